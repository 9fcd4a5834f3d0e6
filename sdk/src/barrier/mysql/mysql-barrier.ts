import { barrierKey } from '../../branch/barrier-key.ts'
import type { BarrierCall } from '../../branch/branch.ts'
import { BranchError } from '../../branch/branch-errors.ts'
import type { Barrier, BarrierOptions, BarrierOutcome } from '../barrier.ts'
import { passBarrier } from '../pass-barrier.ts'
import { repeatContended } from '../repeat-contended.ts'
import { assertNotExpired, checkedRetentionMs } from '../retention.ts'
import { checkedTable, quoted } from '../table-name.ts'
import {
  assertPromiseApi,
  execute,
  isContended,
  isInTransaction,
  isReadOnly,
  type MysqlConnection,
  type MysqlPool,
  type MysqlPoolConnection,
  transactionLost,
} from './mysql-connection.ts'
import { mysqlRows } from './mysql-rows.ts'

/**
 * A barrier over a pool of mysql2 (MySQL 8 or later, MariaDB 10.6 or later). Each call takes a connection, and begins
 * and commits a database transaction of its own; the effect writes through the connection that it is given. What it
 * writes through the pool is in another transaction, and stays when this one rolls back.
 *
 * A deadlock or lock wait (1213, 1205, MariaDB's 1020) rolls back and runs the whole transaction again, with a pause:
 * at most 20 times or 5 s, then `BARRIER_CONTENDED`. A COMMIT whose answer is lost is `BARRIER_COMMIT_UNKNOWN`: the
 * next call finds the row or does not. A connection that cannot be rolled back is destroyed.
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
  { table, retentionMs, now = Date.now }: BarrierOptions = {},
): Barrier<Connection> {
  assertPromiseApi(pool, 'pool')
  const name = quoted(checkedTable(table), '`')
  const keptMs = checkedRetentionMs(retentionMs)
  return {
    run: async (call, effect) => {
      const at = now()
      assertNotExpired(call, keptMs, at)
      const passing = { key: barrierKey(call), op: call.op, at }
      return repeatContended(
        () =>
          inTransaction(pool, (connection) =>
            passBarrier(mysqlRows(connection, name), passing, () => effect(connection)),
          ),
        isContended,
      )
    },
  }
}

/**
 * A barrier inside a database transaction of your own: of a query builder, or of a unit of work. You begin, commit,
 * and roll back when `run` rejects, whatever it rejects with: its rows must not outlive the effect. After a null
 * compensation you commit, or the action that it blocks would run. Nothing is repeated: a deadlock is thrown, your
 * transaction is gone, and the call is best answered 500.
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
  const name = quoted(checkedTable(table), '`')
  const keptMs = checkedRetentionMs(retentionMs)
  return {
    run: async (call: BarrierCall, effect) => {
      const at = now()
      assertNotExpired(call, keptMs, at)
      const passing = { key: barrierKey(call), op: call.op, at }
      // In autocommit a row would stand for good before the effect had run.
      if (!isInTransaction(await execute(connection, 'DO 0'))) {
        throw transactionLost('mysqlBarrierIn needs a connection with an open transaction')
      }
      return passBarrier(mysqlRows(connection, name), passing, () => effect(connection))
    },
  }
}

async function inTransaction<Connection extends MysqlPoolConnection>(
  pool: MysqlPool<Connection>,
  body: (connection: Connection) => Promise<BarrierOutcome>,
): Promise<BarrierOutcome> {
  const connection = await pool.getConnection()
  try {
    await execute(connection, 'START TRANSACTION')
    const outcome = await body(connection)
    await commit(connection)
    connection.release()
    return outcome
  } catch (error: unknown) {
    await giveBack(connection, error)
    throw error
  }
}

/** Galera says at COMMIT that it has rolled back; any other error there may have come after the fact. */
async function commit(connection: MysqlConnection): Promise<void> {
  try {
    await execute(connection, 'COMMIT')
  } catch (error: unknown) {
    if (isContended(error)) throw error
    throw new BranchError('BARRIER_COMMIT_UNKNOWN', 'the answer to COMMIT was lost', error)
  }
}

/** A connection goes back to the pool only when nothing is open on it. */
async function giveBack(connection: MysqlPoolConnection, thrown: unknown): Promise<void> {
  if (isReadOnly(thrown) || (thrown instanceof BranchError && thrown.code === 'BARRIER_COMMIT_UNKNOWN')) {
    connection.destroy()
    return
  }
  const isRolledBack = await execute(connection, 'ROLLBACK').then(
    () => true,
    () => false,
  )
  // What was thrown says more than a failed ROLLBACK: usually it is the same broken connection.
  if (isRolledBack) connection.release()
  else connection.destroy()
}
