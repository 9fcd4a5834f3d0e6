import type { BarrierCall } from '../../branch/branch.ts'
import type { Barrier, BarrierOptions } from '../barrier.ts'
import { checkTimeoutMs, type PooledBarrierOptions, startDeadline } from '../deadline.ts'
import { keepRefusals } from '../keep-refusals.ts'
import type { MessageBarrier } from '../message-barrier.ts'
import { passBarrier, toPassingCall } from '../pass-barrier.ts'
import { queryBack, toQueryBack } from '../query-back.ts'
import { repeatContended } from '../repeat-contended.ts'
import { assertNotExpired, checkRetentionMs } from '../retention.ts'
import { parseTableName, quoteTable } from '../table-name.ts'
import {
  assertPromiseApi,
  execute,
  isContended,
  isInTransaction,
  type MysqlConnection,
  type MysqlPool,
  type MysqlPoolConnection,
  toTransactionLostError,
} from './mysql-connection.ts'
import { flushAnew, flushWithin } from './mysql-flush.ts'
import { createMysqlRows } from './mysql-rows.ts'
import { inTransaction } from './mysql-transaction.ts'

/**
 * This is a barrier over a pool of mysql2 (MySQL 8 or later, MariaDB 10.6 or later). Each call takes a connection,
 * and begins and commits a database transaction of its own; the effect writes through the connection that it is
 * given. What it writes through the pool is in another transaction, and stays when this one rolls back.
 *
 * After a deadlock or a lock wait (1213, 1205, MariaDB's 1020) the whole transaction is rolled back and runs again,
 * with a pause, at most 20 times or 5 s; then the call fails with `BARRIER_CONTENDED`. If the answer to a COMMIT is
 * lost, the call fails with `BARRIER_COMMIT_UNKNOWN`, and the next call finds the row or does not. A connection that
 * cannot be rolled back is destroyed, and so is one on which a call is not done within `timeoutMs` (10 s). If the
 * session of such a connection still waits for a lock, it is ended by a KILL over another connection of the pool.
 * Through a proxy that shows the server other client ports than the client's own, the session waits until
 * `innodb_lock_wait_timeout`.
 *
 * @example
 * ```ts
 * import { createPool } from 'mysql2/promise'
 * import { checkBarrier, migrateBarrier, mysqlBarrier } from '@counterstep/sdk/barrier/mysql'
 *
 * const pool = createPool({ uri: 'mysql://bank@127.0.0.1/bank' })
 * await migrateBarrier(pool)
 * await checkBarrier(pool, { businessTable: 'account' })
 * const barrier = mysqlBarrier(pool)
 * await barrier.run({ gid: 'transfer-1', branchId: '01', op: 'action' }, async (tx) => {
 *   await tx.execute('UPDATE account SET cents = cents - 100 WHERE id = ?', ['alice'])
 * })
 * ```
 */
export function mysqlBarrier<Connection extends MysqlPoolConnection>(
  pool: MysqlPool<Connection>,
  { table, retentionMs, timeoutMs, now = Date.now }: PooledBarrierOptions = {},
): MessageBarrier<Connection> {
  assertPromiseApi(pool, 'pool')
  const name = quoteTable(parseTableName(table), '`')
  const keptMs = checkRetentionMs(retentionMs)
  const callMs = checkTimeoutMs(timeoutMs)
  return {
    run: keepRefusals(async (call, effect) => {
      const nowMs = now()
      assertNotExpired(call, keptMs, nowMs)
      const passing = toPassingCall(call, nowMs)
      const deadline = startDeadline(callMs, call.signal)
      return repeatContended(
        () =>
          inTransaction(pool, deadline, (lend, own) =>
            passBarrier(createMysqlRows(own, name, flushAnew), passing, (original) =>
              lend((handle) => effect(handle, original)),
            ),
          ),
        isContended,
      )
    }),
    queryPrepared: async (gid, options) => {
      const query = toQueryBack(gid, options, keptMs, now())
      const deadline = startDeadline(callMs, options?.signal)
      return repeatContended(
        () =>
          inTransaction(pool, deadline, (_, own) => queryBack(createMysqlRows(own, name, flushAnew), query)),
        isContended,
      )
    },
  }
}

/**
 * A barrier inside a database transaction of your own: of a query builder, or of a unit of work. You begin and commit
 * the transaction, and you roll it back whenever `run` rejects, because the barrier's rows must not outlive the effect.
 * Commit after a null compensation, too, or the action that it blocks would run, and after a duplicate before you answer
 * it: the row that it rests on may not be on the disk before your COMMIT is. Nothing is repeated: a deadlock is
 * thrown, your transaction is gone, and it is best to answer the call with 500.
 *
 * Send `SET autocommit = 0` as the first statement of the transaction and `SET autocommit = 1` behind its COMMIT or ROLLBACK,
 * or send the statements of the effect one after another and let each error of the database pass, also out of a nested
 * transaction of an ORM. (With autocommit off for all of a pool, what others send on it would never be committed.) A
 * deadlock ends the whole transaction, whatever savepoints it has. What mysql2 has in its queue then, or what an effect
 * sends that has caught the error, is committed alone with autocommit on, and once more when the call is repeated.
 *
 * You also have to bound how long a call may take, because mysql2 waits for an answer without an end: race the call
 * against a timer, and destroy the connection when the timer wins. A `timeout` of one query ends the wait, but leaves
 * the query running.
 *
 * Throws `BARRIER_TRANSACTION_LOST`, before it writes anything, if no transaction is open.
 *
 * @example
 * ```ts
 * await knex.transaction(async (transaction) => {
 *   const connection = await transaction.client.acquireConnection()
 *   const barrier = mysqlBarrierIn(connection.promise())
 *   await withBarrier(barrier, branch, () => transaction('account').where({ id }).increment({ cents }))
 * })
 * ```
 */
export function mysqlBarrierIn<Connection extends MysqlConnection>(
  connection: Connection,
  { table, retentionMs, now = Date.now }: BarrierOptions = {},
): Barrier<Connection> {
  assertPromiseApi(connection, 'connection')
  const name = quoteTable(parseTableName(table), '`')
  const keptMs = checkRetentionMs(retentionMs)
  return {
    run: async (call: BarrierCall, effect) => {
      const nowMs = now()
      assertNotExpired(call, keptMs, nowMs)
      const passing = toPassingCall(call, nowMs)
      // In autocommit a row would stand for good before the effect had run.
      if (!isInTransaction(await execute(connection, 'DO 0'))) {
        throw toTransactionLostError('mysqlBarrierIn needs a connection with an open transaction')
      }
      return passBarrier(createMysqlRows(connection, name, flushWithin), passing, (original) =>
        effect(connection, original),
      )
    },
  }
}
