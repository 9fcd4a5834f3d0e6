import type { Brought } from '@counterstep/test-servers'
import { quotientsOf, type Row } from '../row.ts'
import { spreadOf } from '../spread.ts'

/** Names of a row's figures. */
export const WRK_RATE = 'wrk per second'
export const OURS_TO_WRK = 'autocannon/wrk'

/** Two honest load programs differ by no more. */
const DIFFERENCE_MAX = 0.15

/** The quotients that a row gets once all its rounds are known. */
export function withConfirmation(row: Row): Row {
  const wrk = row.figures[WRK_RATE]
  if (wrk === undefined) return row
  return { ...row, figures: { ...row.figures, [OURS_TO_WRK]: quotientsOf(row.perSecond, wrk) } }
}

/** Whether wrk found what our own load found, in a sentence. */
export function confirmationNote(wrk: Brought, rows: readonly Row[]): string {
  if (wrk.type === 'missing') return `CAUTION: wrk confirmed nothing: ${wrk.reason}`
  const confirmed = rows.flatMap(({ name, figures }) => {
    const quotient = figures[OURS_TO_WRK]
    return quotient === undefined ? [] : [{ name, quotient: quotient.median }]
  })
  if (confirmed.length === 0)
    return 'wrk: no row of this scenario is asked over HTTP in a way that wrk can repeat'
  const quotients = spreadOf(confirmed.map(({ quotient }) => quotient))
  const range = `autocannon/wrk is ${quotients.min.toFixed(2)} to ${quotients.max.toFixed(2)}`
  const apart = confirmed.filter(({ quotient }) => Math.abs(quotient - 1) > DIFFERENCE_MAX)
  const bound = `${DIFFERENCE_MAX * 100} %`
  return apart.length === 0
    ? `wrk confirms ${confirmed.length} of ${rows.length} rows within ${bound}: ${range}`
    : `CAUTION: wrk does not confirm within ${bound}: ${apart.map(({ name, quotient }) => `${name} (${quotient.toFixed(2)})`).join(', ')}; ${range}`
}
