import { checkEqual } from '../../check-counts.ts'
import type { SqlLink } from '../../stores/sql-link.ts'
import type { CallCounts, Way } from './callers-job.ts'
import { HOT_ID, START_CENTS } from './hot-account.ts'

export type Audit = Readonly<Record<(typeof AUDITED)[number], number>>

const AUDITED = ['balance', 'ledgerCents', 'ledgerRows', 'ledgerGids', 'barrierRows', 'barrierGids'] as const

/**
 * Holds what the tables say for themselves against what was answered. Throws unless the balance is what it was and the
 * ledger's sum, and each call that ran, and no other, has one row in the ledger and one of the barrier.
 */
export async function auditHotRow(
  link: SqlLink,
  way: Way,
  database: string,
  { ran }: Pick<CallCounts, 'ran'>,
): Promise<Audit> {
  const audit = await readAudit(link, database)
  const { balance, ledgerCents, ...rows } = audit
  if (way === 'update') {
    checkEqual({ [`${way}: balance`]: balance, expected: START_CENTS + ran })
    return audit
  }
  checkEqual({ [`${way}: balance`]: balance, expected: START_CENTS + ledgerCents })
  checkEqual({ [`${way}: ran`]: ran, ...rows })
  if (balance < 0)
    throw new Error(`${way}: the balance is ${balance}, and no call may take what is not there`)
  return audit
}

async function readAudit(link: SqlLink, database: string): Promise<Audit> {
  const barrierRows = `SELECT COUNT(*) FROM ${database}.counterstep_barrier`
  const sql = `SELECT
    (SELECT cents FROM ${database}.account WHERE id = ?) AS balance,
    (SELECT COALESCE(SUM(cents), 0) FROM ${database}.ledger WHERE account = ?) AS ledgerCents,
    (SELECT COUNT(*) FROM ${database}.ledger) AS ledgerRows,
    (SELECT COUNT(DISTINCT gid) FROM ${database}.ledger) AS ledgerGids,
    (${barrierRows}) AS barrierRows,
    (${barrierRows} WHERE gid IN (SELECT gid FROM ${database}.ledger)) AS barrierGids`
  const [row] = await link.rows(sql, [HOT_ID, HOT_ID])
  return Object.fromEntries(AUDITED.map((name) => [name, Number(row?.[name])])) as Audit
}
