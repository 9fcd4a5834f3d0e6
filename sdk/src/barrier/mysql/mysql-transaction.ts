import { BranchError, isBranchError } from '../../branch/branch-errors.ts'
import { assertTimeLeft, borrow, type Deadline, within } from '../deadline.ts'
import { createLender, type Lend, type Lender } from '../lend.ts'
import { promisesRollback, toNotRolledBackError } from '../promised-rollback.ts'
import {
  execute,
  hasBegun,
  isContended,
  isReadOnly,
  type MysqlConnection,
  type MysqlPool,
  type MysqlPoolConnection,
  toTransactionLostError,
} from './mysql-connection.ts'
import { close, cutOff } from './mysql-end-session.ts'
import { type TransactionWatch, watchTransaction } from './mysql-watch.ts'

/**
 * Runs `body` in a transaction of its own. An error rolls back; the connection goes back clean or not at all. `lend` lends the connection
 * to an effect. `own` is the connection itself, for statements that `body` waits for: the connection is cut off before `body` is given
 * up.
 */
export async function inTransaction<Connection extends MysqlPoolConnection, T>(
  pool: MysqlPool<Connection>,
  deadline: Deadline,
  body: (lend: Lend<Connection>, own: Connection) => Promise<T>,
): Promise<T> {
  const connection = await borrow(deadline, () => pool.getConnection())
  let watch: TransactionWatch | undefined
  let lender: Lender<Connection> | undefined
  try {
    const result = await within(deadline, async () => {
      const watching = watchTransaction(connection, await execute(connection, 'START TRANSACTION'))
      watch = watching
      const lending = createLender(connection, watching.createOrder)
      lender = lending
      const lend: Lend<Connection> = async (work) => {
        const done = await lending.lend(work)
        if (await watching.isLost())
          throw toTransactionLostError('the effect ended the transaction that it ran in')
        return done
      }
      return body(lend, connection)
    })
    lender?.assertNoneLate()
    await commit(connection, deadline)
    await giveBack(pool, connection, deadline, watch)
    return result
  } catch (error: unknown) {
    lender?.end()
    const isLost = promisesRollback(error) && (await isTransactionGone(connection, deadline, watch))
    await rollBack(pool, connection, deadline, error, watch)
    throw isLost ? toNotRolledBackError(error) : error
  }
}

/** Tells whether the server says that no transaction is open. A connection that is broken says nothing, and the server rolls back what was open on it. */
async function isTransactionGone(
  connection: MysqlConnection,
  deadline: Deadline,
  watch: TransactionWatch | undefined,
): Promise<boolean> {
  const ask = async () => !hasBegun(await execute(connection, 'DO 0')) || (await watch?.isLost()) === true
  return within(deadline, ask).catch(() => false)
}

/**
 * Commits. Galera reports at COMMIT that it has rolled back. Any other error of a COMMIT may have come after the
 * commit.
 */
async function commit(connection: MysqlConnection, deadline: Deadline): Promise<void> {
  assertTimeLeft(deadline)
  try {
    await within(deadline, () => execute(connection, 'COMMIT'))
  } catch (error: unknown) {
    if (isContended(error)) throw error
    throw new BranchError('BARRIER_COMMIT_UNKNOWN', 'the answer to COMMIT was lost', error)
  }
}

/** Gives a connection whose transaction is over back to the pool as it was, or cuts it off. */
async function giveBack<Connection extends MysqlPoolConnection>(
  pool: MysqlPool<Connection>,
  connection: Connection,
  deadline: Deadline,
  watch: TransactionWatch | undefined,
): Promise<void> {
  const isRestored = await within(deadline, async () => watch?.restore()).then(
    () => true,
    () => false,
  )
  if (isRestored) connection.release()
  else cutOff(pool, connection)
}

/**
 * Rolls back, and gives the connection back to the pool, but only when nothing is open on it. The server rolls back the
 * transaction of a connection that is cut off.
 */
async function rollBack<Connection extends MysqlPoolConnection>(
  pool: MysqlPool<Connection>,
  connection: Connection,
  deadline: Deadline,
  thrown: unknown,
  watch: TransactionWatch | undefined,
): Promise<void> {
  const code = isBranchError(thrown) ? thrown.code : undefined
  // A COMMIT that is under way has to come to its own end.
  if (isReadOnly(thrown) || code === 'BARRIER_COMMIT_UNKNOWN') {
    close(connection)
    return
  }
  // The server would not read a ROLLBACK before the statement that is under way has ended.
  const isRolledBack =
    code !== 'BARRIER_TIMED_OUT' &&
    (await within(deadline, () => execute(connection, 'ROLLBACK')).then(
      () => true,
      () => false,
    ))
  // The error that was thrown says more than a failed ROLLBACK, which usually comes from the same broken connection.
  if (isRolledBack) await giveBack(pool, connection, deadline, watch)
  else cutOff(pool, connection)
}
