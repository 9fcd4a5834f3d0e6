import { StoreUnavailableError } from '@counterstep/core'
import {
  CommitInDoubt,
  type Row,
  repeatTransaction,
  type SessionPool,
  SqlError,
  UnsentError,
} from '@counterstep/store-sql'
import { isCertain } from '../sessions/server-errors.ts'
import type { Query, Session } from '../sessions/session.ts'
import { toPostgresStoreError } from '../sessions/store-sessions.ts'

export interface Counters {
  /** Statements and database transactions that were committed and had rows to write. */
  commits: number
  /** The rows of those. */
  rows: number
  /** Those that were sent again after a deadlock, a lock wait, or a connection that had ended or was refused. */
  retries: number
}

/** Runs statements that write, each as one database transaction. Every failure says whether it may have been applied. */
export class WritingStatements {
  readonly #writers: SessionPool<Session>
  readonly #onFault: (error: SqlError) => void
  readonly counters: Counters = { commits: 0, rows: 0, retries: 0 }

  constructor(writers: SessionPool<Session>, onFault: (error: SqlError) => void) {
    this.#writers = writers
    this.#onFault = onFault
  }

  /**
   * Runs one statement, which the server commits by itself. It may be sent again, also while the server still works on what
   * was sent before: what has been written twice must be the same as what was written once.
   */
  run(query: Query, rowsToWrite: number, lockWaitRepeats = 1): Promise<readonly Row[]> {
    return this.#repeat(lockWaitRepeats, rowsToWrite, (session) => session.all(query).catch(throwDoubt))
  }

  /** Runs several statements between BEGIN and COMMIT. A COMMIT without an answer is not sent again. */
  runTogether<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#repeat(1, 1, async (session) => {
      try {
        await session.send({ sql: 'BEGIN' })
        const value = await work(session)
        await session.send({ sql: 'COMMIT' }).catch(throwUnknown)
        return value
      } catch (error: unknown) {
        // The server rolls back when the connection has ended.
        session.destroy()
        throw error
      }
    })
  }

  #repeat<T>(lockWaitRepeats: number, rows: number, work: (session: Session) => Promise<T>): Promise<T> {
    return repeatTransaction(() => this.#once(rows, work), {
      lockWaitRepeats,
      toStoreError: toPostgresStoreError,
      onRepeat: () => {
        this.counters.retries += 1
      },
    })
  }

  /** Throws a `SqlError` if nothing was applied, and a `CommitInDoubt` if that is unknown. */
  async #once<T>(rows: number, work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.#writers.acquire()
    try {
      const value = await work(session)
      if (rows > 0) {
        this.counters.commits += 1
        this.counters.rows += rows
      }
      return value
    } catch (error: unknown) {
      const fault = error instanceof CommitInDoubt ? error.cause : error
      if (fault instanceof SqlError) this.#onFault(fault)
      throw error
    } finally {
      this.#writers.release(session)
    }
  }
}

/** A statement is its own COMMIT. Once it has left, only the server's refusal proves that it was not done and will not be. */
function throwDoubt(error: unknown): never {
  if (!(error instanceof SqlError) || error instanceof UnsentError || isCertain(error)) throw error
  throw new CommitInDoubt(error)
}

function throwUnknown(error: unknown): never {
  if (!(error instanceof SqlError) || error instanceof UnsentError || isCertain(error)) throw error
  throw new StoreUnavailableError('the connection was lost during COMMIT', {
    applied: 'unknown',
    cause: error,
  })
}
