import { BranchError, isBranchError } from '../../branch/branch-errors.ts'
import { assertTimeLeft, borrow, type Deadline, within } from '../deadline.ts'
import { lease } from '../lease.ts'
import {
  execute,
  isContended,
  isReadOnly,
  type PostgresClient,
  type PostgresPool,
  type PostgresPoolClient,
  toTransactionLostError,
} from './postgres-client.ts'
import { readStatementTimeoutMs } from './postgres-statement-timeout.ts'

/** Runs `body` in a transaction of its own. What it throws rolls back; the client goes back clean or is closed. */
export async function inTransaction<Client extends PostgresPoolClient, T>(
  pool: PostgresPool<Client>,
  deadline: Deadline,
  body: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await borrow(deadline, () => pool.connect())
  const lent = lease(client)
  // The pool hears only of clients that nobody has; of a lent one, an error that comes while no query runs would end
  // the process. The listener stays on a client that is closed, whose last words may still come.
  client.on('error', ignoreError)
  try {
    const result = await within(deadline, async () => {
      const boundMs = await readStatementTimeoutMs(client, deadline)
      await execute(client, `BEGIN; SET LOCAL statement_timeout = ${boundMs}`)
      return body(lent.handle)
    })
    lent.end()
    await commit(client, deadline)
    release(client)
    return result
  } catch (error: unknown) {
    lent.end()
    await giveBack(client, deadline, error)
    throw error
  }
}

const ROLLED_BACK = 'ROLLBACK'

async function commit(client: PostgresClient, deadline: Deadline): Promise<void> {
  assertTimeLeft(deadline)
  const command = await within(deadline, () => execute(client, 'COMMIT')).then(
    (result) => result.command,
    (error: unknown) => {
      // Deferred constraints and serializable transactions are checked here: those were rolled back for certain.
      if (isContended(error) || isAnswered(error)) throw error
      throw new BranchError('BARRIER_COMMIT_UNKNOWN', 'the answer to COMMIT was lost', error)
    },
  )
  // The server's answer to a COMMIT after an error that somebody swallowed.
  if (command === ROLLED_BACK) throw toTransactionLostError('the transaction had failed before its COMMIT')
}

/**
 * An ERROR that the server sent, of class 23 (integrity) or 40 (rolled back): never one of a broken connection. But
 * 40003 says of itself that nobody knows.
 */
function isAnswered(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(?!40003)(23|40)[0-9A-Z]{3}$/.test(String(error.code))
}

// Whatever statement is under way on such a client, it cannot be told to roll back.
const UNUSABLE: ReadonlySet<unknown> = new Set(['BARRIER_COMMIT_UNKNOWN', 'BARRIER_TIMED_OUT'])

/** A client goes back to the pool only when nothing is open on it. The server rolls back what is cut off. */
async function giveBack(client: PostgresPoolClient, deadline: Deadline, thrown: unknown): Promise<void> {
  if (isReadOnly(thrown) || (isBranchError(thrown) && UNUSABLE.has(thrown.code))) {
    client.release(true)
    return
  }
  // What was thrown says more than a failed ROLLBACK: usually it is the same broken connection.
  const failed = await within(deadline, () => execute(client, 'ROLLBACK')).then(
    () => false,
    () => true,
  )
  if (failed) client.release(true)
  else release(client)
}

function release(client: PostgresPoolClient): void {
  client.removeListener('error', ignoreError)
  client.release()
}

/** Nothing is lost by doing nothing: on a broken client every further query fails, COMMIT among them. */
function ignoreError(error: Error): Error {
  return error
}
