import { BranchError, isBranchError } from '../../branch/branch-errors.ts'
import { assertTimeLeft, borrow, type Deadline, within } from '../deadline.ts'
import { createLender, type Lend } from '../lend.ts'
import { promisesRollback, toNotRolledBackError } from '../promised-rollback.ts'
import { assertKeepsTransaction } from '../statement-guard.ts'
import type { StatementOrder } from '../statement-order.ts'
import {
  assertHearsNotices,
  execute,
  isContended,
  isOutsideTransaction,
  isReadOnly,
  type PostgresNotice,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresResult,
  toTransactionLostError,
} from './postgres-client.ts'
import { buildTimeouts } from './postgres-timeouts.ts'

/**
 * Runs `body` in a transaction of its own. An error rolls back; the client goes back clean or is closed. `lend` lends the client to an
 * effect. `own` is the client itself, for statements that `body` waits for: the client is closed before `body` is given up.
 */
export async function inTransaction<Client extends PostgresPoolClient, T>(
  pool: PostgresPool<Client>,
  deadline: Deadline,
  body: (lend: Lend<Client>, own: Client) => Promise<T>,
): Promise<T> {
  const client = await borrow(deadline, () => pool.connect())
  const lender = createLender(client, () => guardStatements(client))
  const lend: Lend<Client> = async (work) => {
    const done = await lender.lend(work)
    assertInside(client)
    return done
  }
  // The pool listens only to errors of idle clients. On a lent client, an error that comes while no query runs would
  // end the process. The listener stays on a client that is closed, which may still emit errors.
  client.on('error', ignoreError)
  try {
    assertHearsNotices(client)
    const result = await within(deadline, async () => {
      await execute(client, `BEGIN; ${await buildTimeouts(client, deadline)}`)
      return body(lend, client)
    })
    lender.assertNoneLate()
    await commit(client, deadline)
    release(client)
    return result
  } catch (error: unknown) {
    lender.end()
    const hadTransaction = await giveBack(client, deadline, error)
    throw !hadTransaction && promisesRollback(error) ? toNotRolledBackError(error) : error
  }
}

/** Refuses the statements of an effect that would end the transaction, and all of them when it has ended. */
function guardStatements(client: PostgresPoolClient): StatementOrder {
  return {
    send: (method, values, call) => {
      if (method !== 'query') return call(values)
      assertKeepsTransaction(method, values, 'postgres')
      assertInside(client)
      return call(values)
    },
  }
}

function assertInside(client: PostgresPoolClient): void {
  if (isOutsideTransaction(client))
    throw toTransactionLostError('the effect ended the transaction that it ran in')
}

/** Sends the statement that ends the transaction, and collects the notices that the server sends with its answer. */
function endTransaction(
  client: PostgresPoolClient,
  deadline: Deadline,
  text: 'COMMIT' | 'ROLLBACK',
  notices: PostgresNotice[],
): Promise<PostgresResult> {
  const hear = (notice: PostgresNotice): void => void notices.push(notice)
  client.on('notice', hear)
  return within(deadline, () => execute(client, text)).finally(() => client.removeListener('notice', hear))
}

const NO_ACTIVE_TRANSACTION = '25P01'

/** Tells whether there was a transaction to end. */
function wasOpen(notices: readonly PostgresNotice[]): boolean {
  return notices.every(({ code }) => code !== NO_ACTIVE_TRANSACTION)
}

const ROLLED_BACK = 'ROLLBACK'

async function commit(client: PostgresPoolClient, deadline: Deadline): Promise<void> {
  assertTimeLeft(deadline)
  const notices: PostgresNotice[] = []
  const command = await endTransaction(client, deadline, 'COMMIT', notices).then(
    (result) => result.command,
    (error: unknown) => {
      // PostgreSQL checks deferred constraints and serializable transactions at COMMIT. If this check fails, the
      // transaction was certainly rolled back.
      if (isContended(error) || isAnswered(error)) throw error
      throw new BranchError('BARRIER_COMMIT_UNKNOWN', 'the answer to COMMIT was lost', error)
    },
  )
  if (!wasOpen(notices)) throw toTransactionLostError('the effect ended the transaction that it ran in')
  if (notices.some(isEndOfWait))
    throw new BranchError('BARRIER_COMMIT_UNKNOWN', 'the standby may not have the transaction')
  // The server answers ROLLBACK to a COMMIT if an earlier error of the transaction was swallowed.
  if (command === ROLLED_BACK) throw toTransactionLostError('the transaction had failed before its COMMIT')
}

const WARNING = '01000'
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN'

/**
 * Tells whether the wait of a COMMIT for its standby was cancelled. The server answers the COMMIT as a success, with this
 * warning before it. A trigger may warn, too, and its warning comes from another function.
 */
function isEndOfWait({ code, routine = WAIT_FOR_STANDBY }: PostgresNotice): boolean {
  return code === WARNING && routine === WAIT_FOR_STANDBY
}

/**
 * Tells whether the server sent an ERROR of class 23 (integrity) or 40 (rolled back), which a broken connection never
 * causes. The exception is 40003, which itself says that the outcome is unknown.
 */
function isAnswered(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(?!40003)(23|40)[0-9A-Z]{3}$/.test(String(error.code))
}

// Such a client cannot be told to roll back while its statement is under way.
const UNUSABLE: ReadonlySet<unknown> = new Set(['BARRIER_COMMIT_UNKNOWN', 'BARRIER_TIMED_OUT'])

/**
 * Gives a client back to the pool, but only when nothing is open on it. The server rolls back the transaction of a
 * client that is closed. Resolves with false if the server says that no transaction was open.
 */
async function giveBack(client: PostgresPoolClient, deadline: Deadline, thrown: unknown): Promise<boolean> {
  if (isReadOnly(thrown) || (isBranchError(thrown) && UNUSABLE.has(thrown.code))) {
    client.release(true)
    return true
  }
  const notices: PostgresNotice[] = []
  // The error that was thrown says more than a failed ROLLBACK, which usually comes from the same broken connection.
  const failed = await endTransaction(client, deadline, 'ROLLBACK', notices).then(
    () => false,
    () => true,
  )
  if (failed) client.release(true)
  else release(client)
  return wasOpen(notices)
}

function release(client: PostgresPoolClient): void {
  client.removeListener('error', ignoreError)
  client.release()
}

/**
 * Ignores the error. Nothing is lost by this, because every further query fails on a broken client, COMMIT among
 * them.
 */
function ignoreError(error: Error): Error {
  return error
}
