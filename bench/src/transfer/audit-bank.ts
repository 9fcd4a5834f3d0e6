import { checkEqual } from '../check-counts.ts'
import { countStored } from '../harness/count-stored.ts'
import { auditColumn } from './audit-column.ts'
import { toTables } from './bank-tables.ts'
import { type Column, SERVICES } from './columns.ts'
import { PAIRS } from './run-writers.ts'
import type { TransferFixture } from './transfer-fixture.ts'

/** The barrier's rows of one call. */
const BARRIER_ROWS = {
  plain: 0,
  barrier: 1,
  grouped: 1,
} as const satisfies Record<Column['branch'], number>

/** All answers of a run, with those of its warm-ups; `writes` where there is a table of them. */
export async function auditBank(
  { link, accounts, server, twoWritesBaseline }: TransferFixture,
  transfers: ReadonlyMap<Column, number>,
  writes: number | undefined,
): Promise<Record<string, number>> {
  const counters: Record<string, number> = {}
  for (const [{ name, branch, pairs }, answered] of transfers) {
    const { ledgerRows } = await auditColumn(link, name, toTables(name), {
      accounts,
      transfers: answered,
      rowsEach: SERVICES.length * pairs,
      barrierRowsEach: SERVICES.length * BARRIER_ROWS[branch],
      // The other service adds what the first one takes.
      addedCents: 0,
    })
    counters[`${name} transfers`] = answered
    counters[`${name} ledgerRows`] = ledgerRows
  }
  if (writes !== undefined) {
    await auditColumn(link, 'writes', toTables('writes'), {
      accounts,
      transfers: writes,
      rowsEach: PAIRS,
      barrierRowsEach: 0,
      addedCents: writes * PAIRS,
    })
    counters.writes = writes
  }
  const stored = await countStored(server.url)
  const sagas = sumTransfers(transfers, 'saga')
  checkEqual({ sagas, stored })
  const storedByBaseline = await twoWritesBaseline.countFinished()
  checkEqual({ relayed: sumTransfers(transfers, 'baseline'), storedByBaseline })
  return { ...counters, sagas, stored, storedByBaseline }
}

function sumTransfers(transfers: ReadonlyMap<Column, number>, calls: Column['calls']): number {
  let total = 0
  for (const [column, answered] of transfers) if (column.calls === calls) total += answered
  return total
}
