import { checkEqual } from '../check-counts.ts'
import { countStored } from '../harness/count-stored.ts'
import { auditColumn } from './audit-column.ts'
import { tablesOf } from './bank-tables.ts'
import { COLUMNS, type Column, type ColumnName, SERVICES } from './columns.ts'
import { PAIRS } from './run-writers.ts'
import type { TransferBed } from './transfer-bed.ts'

/** All answers of a run, with those of its warm-ups. */
export type Totals = Readonly<Record<ColumnName | 'writes', number>>

export async function auditBank(
  { link, server, storingRelay }: TransferBed,
  totals: Totals,
): Promise<Record<string, number>> {
  const counters: Record<string, number> = {}
  for (const { name, branch, pairs } of COLUMNS) {
    const { ledgerRows } = await auditColumn(link, name, tablesOf(name), {
      transfers: totals[name],
      rowsEach: SERVICES.length * pairs,
      barrierRowsEach: branch === 'plain' ? 0 : SERVICES.length,
      // What one service takes the other adds.
      addedCents: 0,
    })
    counters[`${name} transfers`] = totals[name]
    counters[`${name} ledgerRows`] = ledgerRows
  }
  const { writes } = totals
  await auditColumn(link, 'writes', tablesOf('writes'), {
    transfers: writes,
    rowsEach: PAIRS,
    barrierRowsEach: 0,
    addedCents: writes * PAIRS,
  })
  const stored = await countStored(server.url)
  const sagas = totalOf(totals, 'saga')
  checkEqual({ sagas, stored })
  const storedByRelay = await storingRelay.countFinished()
  checkEqual({ relayed: totalOf(totals, 'storing'), storedByRelay })
  return { ...counters, writes, sagas, stored, storedByRelay }
}

function totalOf(totals: Totals, calls: Column['calls']): number {
  return COLUMNS.filter((column) => column.calls === calls).reduce((sum, { name }) => sum + totals[name], 0)
}
