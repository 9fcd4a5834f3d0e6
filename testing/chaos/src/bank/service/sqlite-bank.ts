import { DatabaseSync } from 'node:sqlite'
import type { Barrier } from '@counterstep/sdk'
import { migrateBarrier, sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import { branchHandler } from '@counterstep/sdk/fastify'
import { type BankDatabase, type Guard, toCents } from './bank-database.ts'
import { accountIds, INITIAL_CENTS } from './bank-schema.ts'
import { readTransferPayload } from './transfer-payload.ts'

// No CHECK of the balance and no unique key on the ledger: the barrier is to keep them right, and the audit to see it.
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS account (
    id TEXT PRIMARY KEY, initial_cents INTEGER NOT NULL, balance_cents INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS effect (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    gid TEXT NOT NULL, branch_id TEXT NOT NULL, op TEXT NOT NULL, account TEXT NOT NULL, cents INTEGER NOT NULL
  ) STRICT`

/** A call waits so long for the auditor, which reads the file meanwhile. */
const BUSY_MS_MAX = 5_000

export function openSqliteBank(path: string, guard: Guard): BankDatabase {
  const database = new DatabaseSync(path, { timeout: BUSY_MS_MAX })
  database.exec('PRAGMA journal_mode = WAL')
  // A killed process loses nothing by it, and no bank here loses its power.
  database.exec('PRAGMA synchronous = NORMAL')
  database.exec(SCHEMA)
  const open = database.prepare('INSERT INTO account VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING')
  inTransaction(database, () => {
    for (const id of accountIds()) open.run(id, INITIAL_CENTS, INITIAL_CENTS)
  })
  migrateBarrier(database)
  const barrier = guard === 'barrier' ? sqliteBarrier(database) : withoutBarrier(database)
  return {
    route: (before) =>
      branchHandler(
        barrier,
        (tx, branch) => {
          before(branch)
          const cents = toCents(branch)
          const { account } = branch.payload
          tx.prepare('UPDATE account SET balance_cents = balance_cents + ? WHERE id = ?').run(cents, account)
          tx.prepare('INSERT INTO effect (gid, branch_id, op, account, cents) VALUES (?, ?, ?, ?, ?)').run(
            branch.gid,
            branch.branchId,
            branch.op,
            account,
            cents,
          )
        },
        { parse: readTransferPayload },
      ),
    async close() {
      database.close()
    },
  }
}

function withoutBarrier(database: DatabaseSync): Barrier<DatabaseSync> {
  return {
    async run(_call, effect) {
      inTransaction(database, () => effect(database))
      return { decision: 'run' }
    },
  }
}

function inTransaction(database: DatabaseSync, work: () => unknown): void {
  database.exec('BEGIN')
  try {
    work()
    database.exec('COMMIT')
  } catch (error: unknown) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}
