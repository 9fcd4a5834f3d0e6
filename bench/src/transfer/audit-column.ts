import { checkEqual } from '../check-counts.ts'
import type { SqlLink } from '../stores/sql-link.ts'
import { type BankTables, START_CENTS } from './bank-tables.ts'

const AUDITED = [
  'accounts',
  'cents',
  'ledgerRows',
  'ledgerCents',
  'gids',
  'barrierRows',
  'wrongAccounts',
] as const
export type Audit = Readonly<Record<(typeof AUDITED)[number], number>>

export interface Expected {
  readonly accounts: number
  /** Transfers that were answered. */
  readonly transfers: number
  /** Ledger rows of one transfer. */
  readonly rowsEach: number
  /** Rows of the barrier of one transfer. */
  readonly barrierRowsEach: number
  /** The sum by which all balances together have grown. */
  readonly addedCents: number
}

/**
 * Holds what the tables say against what was answered. Throws unless there are exactly the ledger rows of the finished
 * transfers, no money came or went, and each account has what it began with and its own ledger's sum.
 */
export async function auditColumn(
  link: SqlLink,
  name: string,
  tables: BankTables,
  expected: Expected,
): Promise<Audit> {
  const { transfers, rowsEach, barrierRowsEach, addedCents } = expected
  const audit = await readAudit(link, tables)
  const { accounts, cents, ledgerRows, ledgerCents, gids, barrierRows, wrongAccounts } = audit
  checkEqual({ [`${name}: accounts`]: accounts, expected: expected.accounts })
  checkEqual({ [`${name}: transfers`]: transfers, gids })
  checkEqual({ [`${name}: ledger rows`]: ledgerRows, expected: transfers * rowsEach })
  checkEqual({ [`${name}: barrier rows`]: barrierRows, expected: transfers * barrierRowsEach })
  checkEqual({ [`${name}: ledger's cents`]: ledgerCents, expected: addedCents })
  checkEqual({ [`${name}: cents`]: cents, expected: expected.accounts * START_CENTS + addedCents })
  checkEqual({ [`${name}: accounts that are not what their ledger says`]: wrongAccounts, expected: 0 })
  return audit
}

async function readAudit(link: SqlLink, { account, ledger, barrier }: BankTables): Promise<Audit> {
  const sql = `SELECT
    (SELECT COUNT(*) FROM ${account}) AS accounts,
    (SELECT SUM(cents) FROM ${account}) AS cents,
    (SELECT COUNT(*) FROM ${ledger}) AS ledgerRows,
    (SELECT COALESCE(SUM(cents), 0) FROM ${ledger}) AS ledgerCents,
    (SELECT COUNT(DISTINCT gid) FROM ${ledger}) AS gids,
    (SELECT COUNT(*) FROM ${barrier}) AS barrierRows,
    (SELECT COUNT(*) FROM ${account} AS a
      LEFT JOIN (SELECT account, SUM(cents) AS cents FROM ${ledger} GROUP BY account) AS l ON l.account = a.id
      WHERE a.cents <> ${START_CENTS} + COALESCE(l.cents, 0)) AS wrongAccounts`
  const [row] = await link.rows(sql)
  return Object.fromEntries(AUDITED.map((name) => [name, Number(row?.[name])])) as Audit
}
