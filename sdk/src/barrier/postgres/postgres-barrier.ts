import { barrierKey } from '../../branch/barrier-key.ts'
import { BranchError } from '../../branch/branch-errors.ts'
import type { Barrier, BarrierOptions, BarrierOutcome } from '../barrier.ts'
import { passBarrier } from '../pass-barrier.ts'
import { repeatContended } from '../repeat-contended.ts'
import { assertNotExpired, checkedRetentionMs } from '../retention.ts'
import { checkedTable, quoted } from '../table-name.ts'
import {
  execute,
  isContended,
  isReadOnly,
  type PostgresClient,
  type PostgresPool,
  type PostgresPoolClient,
  transactionLost,
} from './postgres-client.ts'
import { postgresRows } from './postgres-rows.ts'

/**
 * A barrier over a pool of `pg` (PostgreSQL 12 or later). Each call takes a client, and begins and commits a database
 * transaction of its own; the effect writes through the client that it is given. What it writes through the pool is in
 * another transaction, and stays when this one rolls back.
 *
 * A deadlock or serialization failure (40P01, 40001) rolls back and runs the whole transaction again, with a pause: at
 * most 20 times or 5 s, then `BARRIER_CONTENDED`. A COMMIT whose answer is lost is `BARRIER_COMMIT_UNKNOWN`: the next
 * call finds the row or does not. A client that cannot be rolled back is closed.
 *
 * @example
 * ```ts
 * import { Pool } from 'pg'
 * import { checkBarrier, migrateBarrier, postgresBarrier } from '@counterstep/sdk/barrier/postgres'
 *
 * const pool = new Pool({ database: 'bank' })
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
  { table, retentionMs, now = Date.now }: BarrierOptions = {},
): Barrier<Client> {
  assertPool(pool)
  const name = quoted(checkedTable(table), '"')
  const keptMs = checkedRetentionMs(retentionMs)
  return {
    run: async (call, effect) => {
      const at = now()
      assertNotExpired(call, keptMs, at)
      const passing = { key: barrierKey(call), op: call.op, at }
      return repeatContended(
        () =>
          inTransaction(pool, (client) =>
            passBarrier(postgresRows(client, name), passing, () => effect(client)),
          ),
        isContended,
      )
    },
  }
}

/**
 * A barrier inside a database transaction of your own: of a query builder, or of a unit of work. You begin, commit,
 * and roll back when `run` rejects, whatever it rejects with: its rows must not outlive the effect. After a null
 * compensation you commit, or the action that it blocks would run. Nothing is repeated: a deadlock is thrown, and the
 * call is best answered 500.
 *
 * Throws `BARRIER_TRANSACTION_LOST`, before it writes anything, if no transaction is open.
 *
 * @example
 * ```ts
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
  const name = quoted(checkedTable(table), '"')
  const keptMs = checkedRetentionMs(retentionMs)
  return {
    run: async (call, effect) => {
      const at = now()
      assertNotExpired(call, keptMs, at)
      const passing = { key: barrierKey(call), op: call.op, at }
      await assertInTransaction(client)
      return passBarrier(postgresRows(client, name), passing, () => effect(client))
    },
  }
}

const NO_ACTIVE_TRANSACTION = '25P01'

/** A SAVEPOINT is refused outside of a transaction: cheaper than to ask, and it leaves nothing behind. */
async function assertInTransaction(client: PostgresClient): Promise<void> {
  try {
    await execute(client, 'SAVEPOINT counterstep_barrier; RELEASE counterstep_barrier')
  } catch (error: unknown) {
    if (!(error instanceof Error && 'code' in error && error.code === NO_ACTIVE_TRANSACTION)) throw error
    throw transactionLost('postgresBarrierIn needs a client with an open transaction', error)
  }
}

/** A client has `connect` too, but its calls would share one transaction. */
function assertPool(pool: object): void {
  if ('connect' in pool && typeof pool.connect === 'function' && 'totalCount' in pool) return
  throw new TypeError('the PostgreSQL barrier needs a Pool of pg; for a client see postgresBarrierIn')
}

async function inTransaction<Client extends PostgresPoolClient>(
  pool: PostgresPool<Client>,
  body: (client: Client) => Promise<BarrierOutcome>,
): Promise<BarrierOutcome> {
  const client = await pool.connect()
  // The pool hears only of clients that nobody has; of a lent one, an error that comes while no query runs would end
  // the process. The listener stays on a client that is closed, whose last words may still come.
  client.on('error', heardByTheNextQuery)
  try {
    await execute(client, 'BEGIN')
    const outcome = await body(client)
    await commit(client)
    release(client)
    return outcome
  } catch (error: unknown) {
    await giveBack(client, error)
    throw error
  }
}

const ROLLED_BACK = 'ROLLBACK'

async function commit(client: PostgresClient): Promise<void> {
  const command = await execute(client, 'COMMIT').then(
    (result) => result.command,
    (error: unknown) => {
      // Deferred constraints and serializable transactions are checked here: those were rolled back for certain.
      if (isContended(error) || isAnswered(error)) throw error
      throw new BranchError('BARRIER_COMMIT_UNKNOWN', 'the answer to COMMIT was lost', error)
    },
  )
  // The server's answer to a COMMIT after an error that somebody swallowed.
  if (command === ROLLED_BACK) throw transactionLost('the transaction had failed before its COMMIT')
}

/** An ERROR that the server sent, of class 23 (integrity) or 40 (rolled back): never one of a broken connection. */
function isAnswered(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(23|40)[0-9A-Z]{3}$/.test(String(error.code))
}

/** A client goes back to the pool only when nothing is open on it. */
async function giveBack(client: PostgresPoolClient, thrown: unknown): Promise<void> {
  if (isReadOnly(thrown) || (thrown instanceof BranchError && thrown.code === 'BARRIER_COMMIT_UNKNOWN')) {
    client.release(true)
    return
  }
  // What was thrown says more than a failed ROLLBACK: usually it is the same broken connection.
  const failed = await execute(client, 'ROLLBACK').then(
    () => false,
    () => true,
  )
  if (failed) client.release(true)
  else release(client)
}

function release(client: PostgresPoolClient): void {
  client.removeListener('error', heardByTheNextQuery)
  client.release()
}

/** Nothing is lost by doing nothing: on a broken client every further query fails, COMMIT among them. */
function heardByTheNextQuery(error: Error): Error {
  return error
}
