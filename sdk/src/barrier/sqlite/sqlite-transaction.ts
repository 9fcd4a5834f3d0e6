import { BranchError } from '../../branch/branch-errors.ts'
import { lease } from '../lease.ts'
import { promisesRollback, toNotRolledBackError } from '../promised-rollback.ts'
import { listCauses, type RepeatPace } from '../repeat-contended.ts'
import { isBusy, isInTransaction, type SqliteDatabase } from './sqlite-database.ts'
import { endLeftOpen, leaveOpen } from './sqlite-left-open.ts'

/**
 * The repetitions are bounded by their time alone. A call that finds the file or the connection taken has done nothing
 * yet. SQLite has no queue of waiting writers, so if another writer hardly pauses, most tries find the lock taken.
 */
export const SQLITE_PACE: RepeatPace = { repeatsMax: Number.POSITIVE_INFINITY, pauseMsMax: 50 }

/**
 * Says that a transaction is open already when a call's or a group's turn comes. That transaction belongs to other
 * code, which may roll it back.
 */
class ConnectionTaken extends Error {
  constructor() {
    super('another transaction is open on the connection')
    this.name = 'ConnectionTaken'
  }
}

export function isBusyOrTaken(error: unknown): boolean {
  // A group wraps what its apply threw.
  return error instanceof ConnectionTaken || [...listCauses(error)].some(isBusy)
}

/** Lends the database to one effect, and takes it back when the effect has returned. */
export type LendNow<Database> = <T>(work: (handle: Database) => T) => T

export function inOwnTransaction<Database extends SqliteDatabase, T>(
  database: Database,
  body: (lend: LendNow<Database>) => T,
): T {
  assertNotTaken(database)
  return inTransaction(database, body)
}

export function assertNotTaken(database: SqliteDatabase): void {
  endLeftOpen(database)
  if (isInTransaction(database)) throw new ConnectionTaken()
}

/**
 * Runs `body` in a transaction, or in a savepoint of one that is open. The write lock is taken at the start, so two
 * calls of one branch come one after the other, in whatever process they are.
 */
export function inTransaction<Database extends SqliteDatabase, T>(
  database: Database,
  body: (lend: LendNow<Database>) => T,
): T {
  // A savepoint of a transaction that an earlier call has left open would be lost with it.
  if (!endLeftOpen(database)) throw new ConnectionTaken()
  const outer = isInTransaction(database)
  database.exec(outer ? 'SAVEPOINT counterstep_barrier' : 'BEGIN IMMEDIATE')
  try {
    const outcome = body((work) => lendNow(database, work))
    if (!isInTransaction(database)) throw toTransactionLostError()
    database.exec(outer ? 'RELEASE counterstep_barrier' : 'COMMIT')
    return outcome
  } catch (error: unknown) {
    // After a full disk or an I/O error, SQLite has rolled the transaction back already.
    if (isInTransaction(database)) rollBack(database, outer)
    else if (promisesRollback(error)) throw toNotRolledBackError(error)
    throw error
  }
}

/** better-sqlite3 refuses a ROLLBACK while a query of the connection is read row by row. */
function rollBack(database: SqliteDatabase, outer: boolean): void {
  if (outer) return void database.exec('ROLLBACK TO counterstep_barrier; RELEASE counterstep_barrier')
  try {
    database.exec('ROLLBACK')
  } catch {
    // The error that the call has thrown says more.
    leaveOpen(database)
  }
}

const READING_ROW_BY_ROW = 'iterate'

function lendNow<Database extends SqliteDatabase, T>(database: Database, work: (handle: Database) => T): T {
  const read: unknown[] = []
  const lent = lease(database, {
    send: (method, values, call) => {
      // After a conflict with OR ROLLBACK, or on a full disk, the transaction is gone, and a write of an effect that goes on
      // would be committed at once.
      if (!isInTransaction(database)) throw toTransactionLostError()
      const answer = call(values)
      if (method === READING_ROW_BY_ROW) read.push(answer)
      return answer
    },
  })
  try {
    return work(lent.handle)
  } finally {
    lent.end()
    for (const iterator of read as Iterator<unknown>[]) iterator.return?.()
  }
}

export function toTransactionLostError(): BranchError {
  const message = 'the effect ended the transaction that it ran in, or went on after an error that did'
  return new BranchError('BARRIER_TRANSACTION_LOST', message)
}
