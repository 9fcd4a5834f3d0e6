import type { DatabaseSync } from 'node:sqlite'
import { type BarrierCall, BranchFailure } from '@counterstep/sdk'
import { inTransaction } from './in-transaction.ts'

export interface AccountSeed {
  readonly id: string
  readonly balanceCents: number
  readonly isFrozen?: boolean
}

export interface Account {
  readonly id: string
  readonly initialCents: number
  readonly balanceCents: number
  readonly isFrozen: boolean
}

export interface Accounts {
  /** Adds what is not there yet; an account that stands keeps its balance. */
  seed(seeds: readonly AccountSeed[]): void
  get(id: string): Account | undefined
  /** In the order of ids, from the one after `after`. */
  list(after: string, limit: number): Account[]
  /** Moves money, and writes the ledger beside it. Inside the caller's database transaction. */
  apply(call: BarrierCall, id: string, deltaCents: number): Account
}

// The CHECK is the last line: whatever the code above it forgets, no balance is ever below zero.
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS account (
    id TEXT PRIMARY KEY,
    initial_cents INTEGER NOT NULL,
    balance_cents INTEGER NOT NULL CHECK (balance_cents >= 0),
    frozen INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS ledger (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    gid TEXT NOT NULL,
    branch_id TEXT NOT NULL,
    op TEXT NOT NULL,
    account TEXT NOT NULL,
    delta_cents INTEGER NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS ledger_by_branch ON ledger (gid, branch_id, op);
  CREATE INDEX IF NOT EXISTS ledger_by_account ON ledger (account, delta_cents)`

const COLUMNS = 'id, initial_cents AS initialCents, balance_cents AS balanceCents, frozen'

type AccountRow = Omit<Account, 'isFrozen'> & { readonly frozen: number }

export function openAccounts(database: DatabaseSync, now: () => number): Accounts {
  database.exec(SCHEMA)
  const insert = database.prepare(
    `INSERT INTO account (id, initial_cents, balance_cents, frozen) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
  )
  const select = database.prepare(`SELECT ${COLUMNS} FROM account WHERE id = ?`)
  const page = database.prepare(`SELECT ${COLUMNS} FROM account WHERE id > ? ORDER BY id LIMIT ?`)
  const update = database.prepare('UPDATE account SET balance_cents = ? WHERE id = ?')
  const record = database.prepare(
    'INSERT INTO ledger (gid, branch_id, op, account, delta_cents, at) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const get = (id: string): Account | undefined => {
    const row = select.get(id) as AccountRow | undefined
    return row && asAccount(row)
  }

  return {
    get,
    seed: (seeds) =>
      inTransaction(database, () => {
        for (const { id, balanceCents, isFrozen = false } of seeds) {
          insert.run(id, balanceCents, balanceCents, isFrozen ? 1 : 0)
        }
      }),
    list: (after, limit) => (page.all(after, limit) as unknown as AccountRow[]).map(asAccount),
    apply: ({ gid, branchId, op }, id, deltaCents) => {
      const account = allowed(get(id), id, op, deltaCents)
      const balanceCents = account.balanceCents + deltaCents
      update.run(balanceCents, id)
      record.run(gid, branchId, op, id, deltaCents, now())
      return { ...account, balanceCents }
    },
  }
}

function allowed(account: Account | undefined, id: string, op: string, deltaCents: number): Account {
  if (account === undefined)
    throw new BranchFailure(`no account ${JSON.stringify(id)}`, { code: 'ACCOUNT_UNKNOWN' })
  // An action from before the freeze must stay undoable, or the other bank's money hangs.
  if (account.isFrozen && op !== 'compensate' && op !== 'cancel') {
    throw new BranchFailure('the account is frozen', { code: 'ACCOUNT_FROZEN' })
  }
  if (account.balanceCents + deltaCents < 0) {
    throw new BranchFailure(`account ${id} has not enough for that`, { code: 'INSUFFICIENT_FUNDS' })
  }
  return account
}

function asAccount({ frozen, ...row }: AccountRow): Account {
  return { ...row, isFrozen: frozen !== 0 }
}
