import type { JsonValue } from '@counterstep/protocol'
import { barrierRows } from '@counterstep/protocol/barrier'
import type { BarrierCall } from '../../branch/branch.ts'
import { BranchError } from '../../branch/branch-errors.ts'
import type { BarrierOptions, BarrierOutcome } from '../barrier.ts'
import {
  decideCall,
  findOriginal,
  mustRemoveOwn,
  needsStanding,
  settleWithoutEffect,
  toOutcome,
} from '../decide-call.ts'
import { keepRefusals } from '../keep-refusals.ts'
import type { LocalOutcome, MessageBarrier } from '../message-barrier.ts'
import { type PassingCall, toPassingCall } from '../pass-barrier.ts'
import { isNew, QUERY_BACK_ROWS, type QueryBack, toLocalOutcome, toQueryBack } from '../query-back.ts'
import { repeatContended } from '../repeat-contended.ts'
import { assertNotExpired, checkRetentionMs } from '../retention.ts'
import { toAnswerText } from '../stored-answer.ts'
import { parseTableName, quoteTable } from '../table-name.ts'
import { isThenable } from '../thenable.ts'
import { isInTransaction, type SqliteDatabase } from './sqlite-database.ts'
import { createSqliteRows, type SqliteRows } from './sqlite-rows.ts'
import {
  assertNotTaken,
  inOwnTransaction,
  inTransaction,
  isBusyOrTaken,
  SQLITE_PACE,
  toTransactionLostError,
} from './sqlite-transaction.ts'

/**
 * This is a barrier of one SQLite connection. Its effects are synchronous.
 *
 * @example
 * ```ts
 * const barrier: SqliteBarrier<Database> = sqliteBarrier(database)
 * ```
 */
export interface SqliteBarrier<Database extends SqliteDatabase> extends MessageBarrier<Database> {
  /**
   * Does what `run` does, but synchronously. Inside an open transaction it makes a savepoint, so you can call it in a
   * synchronous transaction function of your own. Throws the errors that `run` rejects with.
   */
  runSync(call: BarrierCall, effect: (database: Database, original?: JsonValue) => unknown): BarrierOutcome
}

/**
 * A barrier over a connection of better-sqlite3 or node:sqlite, whose effects are in the same database. With ATTACH they
 * must be in the barrier's own file, because SQLite commits files with a WAL one by one.
 *
 * The effect runs between BEGIN IMMEDIATE and COMMIT on the connection that all code of the process shares, so it has
 * to be synchronous: while it waited, other code would write into its transaction. If the effect returns a promise, it
 * is refused with `BARRIER_EFFECT_ASYNC` and rolled back, except for what it writes later; so is an effect that returns
 * a query of Drizzle or Knex that was not run. An `async` handler is refused when the `branchHandler` is made. The handle
 * that the effect gets, and every statement that is prepared by that handle, works only until the effect ends. Prepare
 * statements that live longer on the database itself. Those are not refused after an error that has ended the
 * transaction (`OR ROLLBACK`, a full disk), so let such an error pass.
 *
 * After SQLITE_BUSY the call is tried again for 5 s, and then fails with `BARRIER_CONTENDED`. The same happens while
 * another transaction is open on the connection, since its owner may roll it back after the call was answered. Inside a
 * transaction of your own, call `runSync`: it makes a savepoint, and you commit.
 *
 * @example
 * ```ts
 * import Database from 'better-sqlite3'
 * import { migrateBarrier, sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
 *
 * const database = new Database('bank.db')
 * migrateBarrier(database)
 * const barrier = sqliteBarrier(database)
 * await barrier.run({ gid: 'transfer-1', branchId: '01', op: 'action' }, (tx) => {
 *   tx.prepare('UPDATE account SET cents = cents - 100 WHERE id = ?').run('alice')
 * })
 * ```
 */
export function sqliteBarrier<Database extends SqliteDatabase>(
  database: Database,
  { table, retentionMs, now = Date.now }: BarrierOptions = {},
): SqliteBarrier<Database> {
  isInTransaction(database)
  const rows = createSqliteRows(database, quoteTable(parseTableName(table), '"'))
  const keptMs = checkRetentionMs(retentionMs)

  const runSync: SqliteBarrier<Database>['runSync'] = (call, effect) => {
    const nowMs = now()
    assertNotExpired(call, keptMs, nowMs)
    const passing = toPassingCall(call, nowMs)
    return inTransaction(database, (lend) =>
      pass(rows, passing, (original) => lend((handle) => effect(handle, original))),
    )
  }
  return {
    runSync,
    run: keepRefusals((call, effect) =>
      repeatContended(
        async () => {
          assertNotTaken(database)
          return runSync(call, effect)
        },
        isBusyOrTaken,
        SQLITE_PACE,
      ),
    ),
    queryPrepared: async (gid, options) => {
      const query = toQueryBack(gid, options, keptMs, now())
      const ask = async () => inOwnTransaction(database, () => queryBack(rows, query))
      return repeatContended(ask, isBusyOrTaken, SQLITE_PACE)
    },
    assertHandler: (handler) => {
      if (handler.constructor.name === 'AsyncFunction') {
        throw new TypeError(
          'a handler behind the SQLite barrier must be synchronous: it shares its connection',
        )
      }
    },
  }
}

function pass(
  rows: SqliteRows,
  { key, op, at, since, refusal, mustUndo }: PassingCall,
  effect: (original: JsonValue | undefined) => unknown,
): BarrierOutcome {
  const inserted = rows.insert(key, barrierRows(op), at)
  const standing = needsStanding(op, inserted) ? rows.readStanding(key) : []
  const decision = decideCall(op, inserted, standing, since)
  if (mustRemoveOwn(op, decision, inserted) && !rows.remove(key, op)) throw toTransactionLostError()
  const settled = settleWithoutEffect(op, decision, standing, mustUndo)
  if (settled !== undefined) {
    const isKept = decision === 'null-compensation' && refusal !== undefined
    if (isKept && !rows.keepAnswer(key, op, refusal)) throw toTransactionLostError()
    return settled
  }
  const answer = toAnswerText(requireSynchronous(effect(findOriginal(op, standing))))
  if (!rows.keepAnswer(key, op, answer)) throw toTransactionLostError()
  return toOutcome('run', answer)
}

/** Runs the query-back in a transaction that commits in any case. */
function queryBack(rows: SqliteRows, { key, at, since }: QueryBack): LocalOutcome {
  const inserted = rows.insert(key, QUERY_BACK_ROWS, at)
  return toLocalOutcome(inserted, isNew(inserted) ? [] : rows.readStanding(key), since)
}

function requireSynchronous(result: unknown): unknown {
  if (!isThenable(result)) return result
  // The promise is refused whatever its outcome. Without a handler its rejection would end the process. A thenable
  // that is no Promise is left alone: a query builder's query runs only when it is awaited.
  if (result instanceof Promise) result.catch((error: unknown) => error)
  throw new BranchError(
    'BARRIER_EFFECT_ASYNC',
    'the effect returned what has to be awaited: behind the SQLite barrier it must be synchronous',
  )
}
