import { DatabaseSync } from 'node:sqlite'

/**
 * The findings of an auditor in one bank's database, read beside the running bank. In a sound bank the lists are
 * empty.
 */
export interface BankAudit {
  readonly balanceCents: number
  readonly initialCents: number
  readonly effects: number
  readonly calls: number
  /** Accounts whose balance is not their start plus their ledger (I15). */
  readonly wrongBalances: readonly string[]
  /** `gid/branch/op` with more than one effect (I7). */
  readonly repeatedEffects: readonly string[]
  /** `gid/branch` whose undo took effect without or before what it undoes, or that ran after a null one (I8, I9). */
  readonly wrongOrders: readonly string[]
  /** Calls that were kept from a wrong effect: the audit says little where none was. */
  readonly nullCompensations: number
  readonly lateActions: number
}

/** The bank may be starting, and hold its file for a moment. */
const BUSY_MS_MAX = 5_000

const WRONG_BALANCES = `
  SELECT id AS found FROM account
  WHERE balance_cents <> initial_cents
    + (SELECT coalesce(sum(delta_cents), 0) FROM ledger WHERE ledger.account = account.id)`

const REPEATED_EFFECTS = `
  SELECT gid || '/' || branch_id || '/' || op AS found FROM ledger
  GROUP BY gid, branch_id, op HAVING count(*) > 1`

const WRONG_ORDERS = `
  SELECT undo.gid || '/' || undo.branch_id AS found FROM ledger AS undo
  LEFT JOIN ledger AS done ON done.gid = undo.gid AND done.branch_id = undo.branch_id
    AND done.op = CASE undo.op WHEN 'compensate' THEN 'action' ELSE 'try' END
  WHERE undo.op IN ('compensate', 'cancel') AND (done.seq IS NULL OR done.seq > undo.seq)
  UNION
  SELECT ledger.gid || '/' || ledger.branch_id FROM ledger JOIN counterstep_barrier AS barrier USING (gid, branch_id, op)
  WHERE barrier.reason <> barrier.op`

const TOTALS = `
  SELECT
    (SELECT coalesce(sum(balance_cents), 0) FROM account) AS balanceCents,
    (SELECT coalesce(sum(initial_cents), 0) FROM account) AS initialCents,
    (SELECT count(*) FROM ledger) AS effects,
    (SELECT count(*) FROM call_log) AS calls,
    (SELECT count(*) FROM counterstep_barrier WHERE reason <> op) AS nullCompensations,
    (SELECT count(*) FROM call_log WHERE code = 'ALREADY_COMPENSATED') AS lateActions`

type Totals = Pick<
  BankAudit,
  'balanceCents' | 'initialCents' | 'effects' | 'calls' | 'nullCompensations' | 'lateActions'
>

export function auditBank(path: string): BankAudit {
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS_MAX })
  try {
    // One transaction, so that all of it is of one instant. It ends with the connection, since it changes nothing.
    database.exec('BEGIN')
    const totals = database.prepare(TOTALS).get() as Totals | undefined
    if (totals === undefined) throw new Error(`no totals in ${path}`)
    const find = (sql: string): string[] =>
      database
        .prepare(sql)
        .all()
        .map(({ found }) => String(found))
    return {
      ...totals,
      wrongBalances: find(WRONG_BALANCES),
      repeatedEffects: find(REPEATED_EFFECTS),
      wrongOrders: find(WRONG_ORDERS),
    }
  } finally {
    database.close()
  }
}
