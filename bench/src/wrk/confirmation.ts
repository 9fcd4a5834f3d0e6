import type { Brought } from '@counterstep/test-servers'
import { divideSpreads, type Ratio, type Row } from '../row.ts'
import { toSpread } from '../spread.ts'
import { WRK_RATE } from './wrk-rate.ts'

/** The name of a row's figure. */
export const OURS_TO_WRK = 'autocannon/wrk'

/** Two honest load programs differ by no more. */
const DIFFERENCE_MAX = 0.15

/** The quotients that a row gets once all its rounds are known. */
export function withConfirmation(row: Row): Row {
  const wrk = row.figures[WRK_RATE]
  if (wrk === undefined) return row
  return { ...row, figures: { ...row.figures, [OURS_TO_WRK]: divideSpreads(row.perSecond, wrk) } }
}

/** Whether wrk found what our own load found, a sentence for the rows and one for the ratios. */
export function confirmationNotes(
  wrk: Brought,
  { rows, ratios }: { readonly rows: readonly Row[]; readonly ratios: readonly Ratio[] },
): readonly string[] {
  if (wrk.type === 'missing') return [`CAUTION: wrk confirmed nothing: ${wrk.reason}`]
  const ofRows = rows.flatMap(({ name, figures }) => {
    const quotient = figures[OURS_TO_WRK]
    return quotient === undefined ? [] : [{ name, quotient: quotient.median }]
  })
  if (ofRows.length === 0)
    return ['wrk: no row of this scenario is asked over HTTP in a way that wrk can repeat']
  const ofRatios = ratios.flatMap(({ name, spread, byWrk }) =>
    byWrk === undefined ? [] : [{ name, quotient: spread.median / byWrk.median }],
  )
  return [
    toNote(ofRows, `${ofRows.length} of ${rows.length} rows`),
    ...(ofRatios.length === 0 ? [] : [toNote(ofRatios, `${ofRatios.length} of ${ratios.length} ratios`)]),
  ]
}

interface Compared {
  readonly name: string
  /** Ours divided by wrk's. */
  readonly quotient: number
}

function toNote(compared: readonly Compared[], howMany: string): string {
  const { min, max } = toSpread(compared.map(({ quotient }) => quotient))
  const range = `autocannon/wrk is ${min.toFixed(2)} to ${max.toFixed(2)}`
  const apart = compared.filter(({ quotient }) => Math.abs(quotient - 1) > DIFFERENCE_MAX)
  const bound = `${DIFFERENCE_MAX * 100} %`
  return apart.length === 0
    ? `wrk confirms ${howMany} within ${bound}: ${range}`
    : `CAUTION: wrk does not confirm within ${bound} (rounds of less than 3 s differ by more): ${apart.map(({ name, quotient }) => `${name} (${quotient.toFixed(2)})`).join(', ')}; ${range}`
}
