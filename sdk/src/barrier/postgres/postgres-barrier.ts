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
  execute,
  isContended,
  type PostgresClient,
  type PostgresPool,
  type PostgresPoolClient,
  toTransactionLostError,
} from './postgres-client.ts'
import { createPostgresRows } from './postgres-rows.ts'
import { inTransaction } from './postgres-transaction.ts'

/**
 * This is a barrier over a pool of `pg` (PostgreSQL 12 or later). Each call takes a client, and begins and commits a
 * database transaction of its own; the effect writes through the client that it is given. What it writes through the
 * pool is in another transaction, and stays when this one rolls back.
 *
 * After a deadlock or a serialization failure (40P01, 40001) the whole transaction is rolled back and runs again, with
 * a pause, at most 20 times or 5 s; then the call fails with `BARRIER_CONTENDED`. If the answer to a COMMIT is lost,
 * the call fails with `BARRIER_COMMIT_UNKNOWN`, and the next call finds the row or does not. A client that cannot be
 * rolled back is closed, and so is one on which a call is not done within `timeoutMs` (10 s). Give the pool a
 * `connectionTimeoutMillis`: without it a connection that the server never answered keeps its place in the pool. Give it
 * an `error` listener, too: without one `pg` ends the process when the server ends an idle connection.
 *
 * @example
 * ```ts
 * import { Pool } from 'pg'
 * import { checkBarrier, migrateBarrier, postgresBarrier } from '@counterstep/sdk/barrier/postgres'
 *
 * const pool = new Pool({ database: 'bank' })
 * pool.on('error', (error) => console.error(error))
 * await migrateBarrier(pool)
 * await checkBarrier(pool, { businessTable: 'account' })
 * const barrier = postgresBarrier(pool)
 * await barrier.run({ gid: 'transfer-1', branchId: '01', op: 'action' }, async (tx) => {
 *   await tx.query('UPDATE account SET cents = cents - 100 WHERE id = $1', ['alice'])
 * })
 * ```
 */
export function postgresBarrier<Client extends PostgresPoolClient>(
  pool: PostgresPool<Client>,
  { table, retentionMs, timeoutMs, now = Date.now }: PooledBarrierOptions = {},
): MessageBarrier<Client> {
  assertPool(pool)
  const name = quoteTable(parseTableName(table), '"')
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
            passBarrier(createPostgresRows(own, name), passing, (original) =>
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
        () => inTransaction(pool, deadline, (_, own) => queryBack(createPostgresRows(own, name), query)),
        isContended,
      )
    },
  }
}

/**
 * A barrier inside a database transaction of your own: of a query builder, or of a unit of work. You begin and commit
 * the transaction, and you roll it back whenever `run` rejects, because the barrier's rows must not outlive the effect.
 * Commit after a null compensation, too, or the action that it blocks would run. Nothing is repeated: a deadlock is
 * thrown, and it is best to answer the call with 500.
 *
 * You also have to bound how long a call may take, because `pg` waits for an answer without an end: set `query_timeout`
 * of the client, and close the client (`release(true)`) when a query has timed out.
 *
 * A client of a pool has no listener for errors while it is lent. Put one on it, or its process ends when the server ends the
 * session while the effect waits for something else.
 *
 * Throws `BARRIER_TRANSACTION_LOST`, before it writes anything, if no transaction is open.
 *
 * @example
 * ```ts
 * pool.on('connect', (client) => client.on('error', (error) => console.error(error)))
 * const client = await pool.connect()
 * await client.query('BEGIN')
 * await withBarrier(postgresBarrierIn(client), branch, () => debit(client, branch))
 * await client.query('COMMIT')
 * ```
 */
export function postgresBarrierIn<Client extends PostgresClient>(
  client: Client,
  { table, retentionMs, now = Date.now }: BarrierOptions = {},
): Barrier<Client> {
  const name = quoteTable(parseTableName(table), '"')
  const keptMs = checkRetentionMs(retentionMs)
  return {
    run: async (call, effect) => {
      const nowMs = now()
      assertNotExpired(call, keptMs, nowMs)
      const passing = toPassingCall(call, nowMs)
      await assertInTransaction(client)
      return passBarrier(createPostgresRows(client, name), passing, (original) => effect(client, original))
    },
  }
}

const NO_ACTIVE_TRANSACTION = '25P01'

/**
 * PostgreSQL refuses a SAVEPOINT outside of a transaction. This is cheaper than asking whether one is open, and leaves
 * nothing behind.
 */
async function assertInTransaction(client: PostgresClient): Promise<void> {
  try {
    await execute(client, 'SAVEPOINT counterstep_barrier; RELEASE counterstep_barrier')
  } catch (error: unknown) {
    if (!(error instanceof Error && 'code' in error && error.code === NO_ACTIVE_TRANSACTION)) throw error
    throw toTransactionLostError('postgresBarrierIn needs a client with an open transaction', error)
  }
}

/** A client has `connect` too, but its calls would share one transaction. */
function assertPool(pool: object): void {
  if ('connect' in pool && typeof pool.connect === 'function' && 'totalCount' in pool) return
  throw new TypeError('the PostgreSQL barrier needs a Pool of pg; for a client see postgresBarrierIn')
}
