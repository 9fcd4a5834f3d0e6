import { BranchError } from '../branch/branch-errors.ts'
import type { BarrierOptions } from './barrier.ts'

/**
 * The options of a barrier that begins and commits transactions of its own.
 *
 * @example
 * ```ts
 * const options: PooledBarrierOptions = { timeoutMs: 30_000 }
 * ```
 */
export interface PooledBarrierOptions extends BarrierOptions {
  /**
   * Says how long one call may take, in milliseconds, from the wait for a connection to the answer to COMMIT. The
   * default is 10 s, which is also how long the server waits for a branch's answer by default; at most 900 s are
   * allowed. After this time the connection is destroyed, so that the database rolls back, and the call fails with
   * `BARRIER_TIMED_OUT`, or with `BARRIER_COMMIT_UNKNOWN` if the COMMIT was under way. Without this limit a database
   * that has stopped would hold each call for good, since neither mysql2 nor `pg` ends a query that is not answered.
   * Raise it together with the branch's own `timeoutMs`. The `signal` of a call ends it in the same way. An effect that
   * waits for something else than its transaction is not ended, but everything that it writes afterwards fails.
   */
  readonly timeoutMs?: number
}

const TIMEOUT_MS_DEFAULT = 10_000
/** The longest that an orchestrator waits for a branch's answer. */
const TIMEOUT_MS_MAX = 900_000

/** Returns the time limit of a call. Throws a TypeError at construction for one out of its range. */
export function checkTimeoutMs(timeoutMs: number = TIMEOUT_MS_DEFAULT): number {
  if (Number.isSafeInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= TIMEOUT_MS_MAX) return timeoutMs
  throw new TypeError(`timeoutMs must be a whole number from 1 to ${TIMEOUT_MS_MAX}`)
}

/** The end of the time that one call has for all its steps. */
export interface Deadline {
  readonly timeoutMs: number
  /** A time of `performance.now()`, which does not jump when the system's clock is set. */
  readonly at: number
  /** The time is over, too, when this aborts. */
  readonly signal?: AbortSignal | undefined
}

export function startDeadline(timeoutMs: number, signal?: AbortSignal): Deadline {
  return { timeoutMs, at: performance.now() + timeoutMs, signal }
}

/**
 * Runs `work`. Rejects with BARRIER_TIMED_OUT when the time is over. If the time is over already, `work` is not begun.
 */
export async function within<T>(deadline: Deadline, work: () => Promise<T>): Promise<T> {
  assertTimeLeft(deadline)
  const { signal } = deadline
  const working = work()
  // The promise is made by hand, because each call comes through here several times, and `Promise.race` would make
  // three more promises each time.
  return new Promise((resolve, reject) => {
    const expire = () => reject(toTimedOutError(deadline))
    // `work` may have used the time up before it returned. Node warns of a negative time.
    const leftMs = Math.max(0, deadline.at - performance.now())
    const timer = setTimeout(expire, leftMs)
    signal?.addEventListener('abort', expire)
    const stopWaiting = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', expire)
    }
    working.then(
      (value) => {
        stopWaiting()
        resolve(value)
      },
      (error: unknown) => {
        stopWaiting()
        reject(error)
      },
    )
  })
}

/**
 * Throws BARRIER_TIMED_OUT if the time is over. It is called before a step that cannot be taken back once it has
 * begun.
 */
export function assertTimeLeft(deadline: Deadline): void {
  if (deadline.signal?.aborted || deadline.at <= performance.now()) throw toTimedOutError(deadline)
}

function toTimedOutError({ timeoutMs, signal }: Deadline): BranchError {
  const late = signal?.aborted
    ? "the call was not done before its signal aborted: its caller's time for it is over"
    : `the call was not done within ${timeoutMs} ms: the database does not answer, or the effect needs a longer timeoutMs`
  return new BranchError('BARRIER_TIMED_OUT', late)
}

interface Lent {
  release(): void
}

/** Takes a connection from a pool. A connection that comes too late goes back at once. */
export async function borrow<Connection extends Lent>(
  deadline: Deadline,
  lend: () => Promise<Connection>,
): Promise<Connection> {
  let isLate = false
  try {
    return await within(deadline, async () => {
      const connection = await lend()
      if (isLate) connection.release()
      return connection
    })
  } catch (error: unknown) {
    isLate = true
    throw error
  }
}
