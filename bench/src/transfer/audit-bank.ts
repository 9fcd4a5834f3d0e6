import { checkEqual } from '../check-counts.ts'
import { countStored } from '../harness/count-stored.ts'
import { auditColumn } from './audit-column.ts'
import { tablesOf } from './bank-tables.ts'
import { type Column, SERVICES } from './columns.ts'
import { PAIRS } from './run-writers.ts'
import type { TransferBed } from './transfer-bed.ts'

/** All answers of a run, with those of its warm-ups. */
export interface Totals {
  readonly transfers: ReadonlyMap<Column, number>
  readonly writes: number
}

/** The barrier's rows of one call. */
const BARRIER_ROWS = {
  plain: 0,
  noted: 1,
  batched: 1,
  barrier: 1,
  grouped: 1,
  idle: 0,
} as const satisfies Record<Column['branch'], number>

export async function auditBank(
  { link, server, storingRelay }: TransferBed,
  { transfers, writes }: Totals,
): Promise<Record<string, number>> {
  const counters: Record<string, number> = {}
  for (const [{ name, branch, pairs }, answered] of transfers) {
    const { ledgerRows } = await auditColumn(link, name, tablesOf(name), {
      // Those of idle services leave nothing behind.
      transfers: pairs === 0 ? 0 : answered,
      rowsEach: SERVICES.length * pairs,
      barrierRowsEach: SERVICES.length * BARRIER_ROWS[branch],
      // What one service takes the other adds.
      addedCents: 0,
    })
    counters[`${name} transfers`] = answered
    counters[`${name} ledgerRows`] = ledgerRows
  }
  await auditColumn(link, 'writes', tablesOf('writes'), {
    transfers: writes,
    rowsEach: PAIRS,
    barrierRowsEach: 0,
    addedCents: writes * PAIRS,
  })
  const stored = await countStored(server.url)
  const sagas = totalOf(transfers, 'saga')
  checkEqual({ sagas, stored })
  const storedByRelay = await storingRelay.countFinished()
  checkEqual({ relayed: totalOf(transfers, 'storing'), storedByRelay })
  return { ...counters, writes, sagas, stored, storedByRelay }
}

function totalOf(transfers: Totals['transfers'], calls: Column['calls']): number {
  let total = 0
  for (const [column, answered] of transfers) if (column.calls === calls) total += answered
  return total
}
