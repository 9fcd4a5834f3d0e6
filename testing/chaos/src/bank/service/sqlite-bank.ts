import { DatabaseSync } from 'node:sqlite'
import type { Barrier, BarrierCall, Branch } from '@counterstep/sdk'
import { migrateBarrier, sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import { branchHandler } from '@counterstep/sdk/fastify'
import type { BankDatabase, Guard } from './bank-database.ts'
import { accountIds, INITIAL_CENTS } from './bank-schema.ts'
import type { Answer, Entry, Hold } from './bank-work.ts'
import { readTransferPayload, type TransferPayload } from './transfer-payload.ts'

// No CHECK of the balance and no unique key on the ledger: the barrier is to keep them right, and the audit to see it.
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS account (
    id TEXT PRIMARY KEY, initial_cents INTEGER NOT NULL, balance_cents INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS effect (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    gid TEXT NOT NULL, branch_id TEXT NOT NULL, op TEXT NOT NULL, account TEXT NOT NULL, cents INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS hold (id TEXT PRIMARY KEY, account TEXT NOT NULL, cents INTEGER NOT NULL) STRICT`

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
    route: (before, { findHoldId, toEntry }) =>
      branchHandler(
        barrier,
        (tx, branch: Branch<TransferPayload, Answer>) => {
          before(branch)
          const holdId = findHoldId(branch)
          const entry = toEntry(branch, holdId === undefined ? undefined : readHold(tx, holdId))
          writeEntry(tx, branch, entry)
          return entry.answer
        },
        { parse: readTransferPayload },
      ),
    stepBarrier: {
      run: (call, effect) =>
        barrier.run(call, (tx, original) => {
          const write = (entry: Entry) => {
            writeEntry(tx, call, entry)
            return entry.answer
          }
          return effect({ write }, original)
        }),
    },
    async close() {
      database.close()
    },
  }
}

function readHold(tx: DatabaseSync, id: string): Hold {
  const row = tx.prepare('SELECT id, account, cents FROM hold WHERE id = ?').get(id)
  if (row === undefined) throw new Error(`there is no hold ${id}`)
  return row as unknown as Hold
}

function writeEntry(tx: DatabaseSync, { gid, branchId, op }: BarrierCall, entry: Entry): void {
  const { account, cents, newHold } = entry
  tx.prepare('UPDATE account SET balance_cents = balance_cents + ? WHERE id = ?').run(cents, account)
  tx.prepare('INSERT INTO effect (gid, branch_id, op, account, cents) VALUES (?, ?, ?, ?, ?)').run(
    gid,
    branchId,
    op,
    account,
    cents,
  )
  if (newHold === undefined) return
  tx.prepare('INSERT INTO hold (id, account, cents) VALUES (?, ?, ?)').run(
    newHold.id,
    newHold.account,
    newHold.cents,
  )
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
