import { setTimeout as delay } from 'node:timers/promises'
import { AssertionError, StoreUnavailableError } from '@counterstep/core'
import {
  isLoginRefused,
  isRefusedCommit,
  isServerFault,
  SqlError,
  type SqlFault,
  stallOf,
} from '../sessions/server-errors.ts'
import type { Cell, Session } from '../sessions/session.ts'
import type { SessionPool } from '../sessions/session-pool.ts'
import { doubted } from '../writes/doubted.ts'
import { type AtOnce, CommitInDoubt } from './commit-at-once.ts'
import type { Answer, Conduct } from './transaction-protocol.ts'
import { PACKETS } from './packets.ts'

/** A database transaction under way: the session it is in, and the server's clock at its beginning. */
export interface Tx {
  readonly session: Session
  readonly now: number
  /** The session's count at the beginning. */
  readonly rowsChangedBefore: number
  /** Statements with the mark of the instant. */
  readonly runNow: (statements: readonly string[]) => Promise<readonly Answer[]>
}

export interface Counters {
  /** Database transactions committed that had rows to write. */
  commits: number
  /** The rows of these. */
  rows: number
  /** Database transactions begun again: deadlocks, lock waits, connections that had ended or were refused. */
  retries: number
}

/** What the work has come to, told to the caller only after its COMMIT. */
export interface Work<T> {
  readonly value: T
  readonly rows: number
}

export interface RunOptions<T> {
  readonly lockWaitRepeats?: number
  /** Instead of the work, which follows only where it did not come to its COMMIT. */
  readonly atOnce?: AtOnce<T> | undefined
}

/** How often a database transaction is begun again after a fault of this kind. */
const REPEATS: Readonly<Partial<Record<SqlFault, number>>> = {
  repeat: 5,
  crowded: 5,
  lost: 2,
  'read-only': 1,
}
const PAUSE_MS_MAX = 20

/** Runs work as one database transaction each, and says of every failure whether it may have been applied. */
export class DatabaseTransactions {
  readonly #writers: SessionPool
  readonly #probeTimeoutMs: number
  readonly #onServerFault: () => void
  readonly #conduct: Conduct
  readonly counters: Counters = { commits: 0, rows: 0, retries: 0 }

  /** `probeTimeoutMs`: within this time a server that is there says what time it is. */
  constructor(
    writers: SessionPool,
    probeTimeoutMs: number,
    onServerFault: () => void,
    conduct: Conduct = PACKETS,
  ) {
    this.#conduct = conduct
    this.#writers = writers
    this.#probeTimeoutMs = probeTimeoutMs
    this.#onServerFault = onServerFault
  }

  async run<T>(
    work: (tx: Tx) => Promise<Work<T>>,
    { lockWaitRepeats = 1, atOnce }: RunOptions<T> = {},
  ): Promise<T> {
    const left: Partial<Record<SqlFault, number>> = { ...REPEATS, 'lock-wait': lockWaitRepeats }
    // Of any try: that a later one has certainly not been applied says nothing of it.
    let isInDoubt = false
    for (let repeats = 1; ; repeats++) {
      try {
        return await this.#once(work, atOnce)
      } catch (thrown: unknown) {
        isInDoubt ||= thrown instanceof CommitInDoubt
        const error = thrown instanceof CommitInDoubt ? thrown.cause : thrown
        const allowance = error instanceof SqlError ? (left[error.fault] ?? 0) : 0
        if (!(error instanceof SqlError) || allowance === 0)
          throw isInDoubt ? doubted(definite(error)) : definite(error)
        left[error.fault] = allowance - 1
        this.counters.retries += 1
        // At different times, so that those who have met do not meet again. A lost connection tells nothing of others.
        const pauses = error.fault === 'repeat' || error.fault === 'crowded'
        if (pauses) await delay(Math.random() * PAUSE_MS_MAX * repeats)
      }
    }
  }

  /**
   * Throws a `SqlError` when nothing was applied, a `CommitInDoubt` when that is unknown and the same may be sent again,
   * and else a `StoreUnavailableError`.
   */
  async #once<T>(work: (tx: Tx) => Promise<Work<T>>, atOnce: AtOnce<T> | undefined): Promise<T> {
    const session = await this.#writers.acquire()
    try {
      const done = atOnce && (await this.#conduct.atOnce?.(session, atOnce, this.#probeTimeoutMs))
      const { value, rows } = done ?? (await this.#stepByStep(session, work))
      if (rows > 0) {
        this.counters.commits += 1
        this.counters.rows += rows
      }
      return value
    } catch (error: unknown) {
      const fault = error instanceof CommitInDoubt ? error.cause : error
      if (fault instanceof SqlError && isServerFault(fault)) this.#onServerFault()
      await rollBack(session)
      throw error
    } finally {
      this.#writers.release(session)
    }
  }

  async #stepByStep<T>(session: Session, work: (tx: Tx) => Promise<Work<T>>): Promise<Work<T>> {
    const rowsChangedBefore = session.rowsChanged
    const now = await this.#begin(session)
    const runNow = (statements: readonly string[]) => this.#conduct.runNow(session, now, statements)
    const done = await work({ session, now, rowsChangedBefore, runNow }).catch(refuseStall)
    await this.#commit(session)
    return done
  }

  /** The server's clock. Found before anything is written: a former primary that takes reads only. */
  async #begin(session: Session): Promise<number> {
    const [now, ...readOnly] = await this.#conduct.begin(session, this.#probeTimeoutMs)
    if (!readOnly.every(isOff)) {
      session.destroy()
      throw new SqlError('read-only', 'the server is read-only')
    }
    return Number(now)
  }

  async #commit(session: Session): Promise<void> {
    try {
      await this.#conduct.commit(session)
    } catch (error: unknown) {
      if (error instanceof SqlError && isRefusedCommit(error)) throw error
      session.destroy()
      this.#onServerFault()
      // It may have reached the server, or still be on its way: whoever sends the write again waits for its row locks.
      throw new StoreUnavailableError('the connection was lost during COMMIT', {
        applied: 'unknown',
        cause: error,
      })
    }
  }
}

/** Nothing was applied. What is the statement's or the row's own fault would be so again. */
export function finalError(error: SqlError): Error {
  if (error.fault === 'row' || error.fault === 'duplicate') return new AssertionError(error.message)
  return new StoreUnavailableError(error.message, {
    applied: 'no',
    isLoginRefused: isLoginRefused(error),
    cause: error,
  })
}

function definite(error: unknown): unknown {
  return error instanceof SqlError ? finalError(error) : error
}

/** The server has just told the time, so it is there: its row locks, waited for one after the other, are what takes so long. */
function refuseStall(error: unknown): never {
  throw error instanceof SqlError ? stallOf(error) : error
}

function isOff(cell: Cell): boolean {
  return cell === 0 || cell === '0' || cell === 'OFF'
}

/** Of a session that cannot roll back any more the server does it when the connection has ended. */
async function rollBack(session: Session): Promise<void> {
  if (session.isBroken) return
  try {
    await session.run('ROLLBACK')
  } catch (error: unknown) {
    session.destroy()
    if (!(error instanceof SqlError)) throw error
  }
}
