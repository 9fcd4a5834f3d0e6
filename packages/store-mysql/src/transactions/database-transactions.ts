import { StoreUnavailableError } from '@counterstep/core'
import {
  type Cell,
  CommitInDoubt,
  isServerFault,
  repeatTransaction,
  type SessionPool,
  SqlError,
  toStall,
  toStoreError,
} from '@counterstep/store-sql'
import { isLoginRefused, isRefusedCommit } from '../sessions/server-errors.ts'
import type { Session } from '../sessions/session.ts'
import { PACKETS } from './packets.ts'
import type { AtOnce, TransactionProtocol, Tx, Work } from './transaction-protocol.ts'

export interface Counters {
  /** Database transactions committed that had rows to write. */
  commits: number
  /** The rows of those database transactions. */
  rows: number
  /** Database transactions that were begun again after a deadlock, a lock wait, or a connection that had ended or was refused. */
  retries: number
}

export interface RunOptions<T> {
  readonly lockWaitRepeats?: number
  /** This is tried first. The work runs only if this did not come to its COMMIT. */
  readonly atOnce?: AtOnce<T> | undefined
}

/** Runs each work as one database transaction. Every failure says whether the work may have been applied. */
export class DatabaseTransactions {
  readonly #writers: SessionPool<Session>
  readonly #probeTimeoutMs: number
  readonly #onServerFault: () => void
  readonly #protocol: TransactionProtocol
  readonly counters: Counters = { commits: 0, rows: 0, retries: 0 }

  /** A server that can be reached tells its clock within `probeTimeoutMs`. */
  constructor(
    writers: SessionPool<Session>,
    probeTimeoutMs: number,
    onServerFault: () => void,
    protocol: TransactionProtocol = PACKETS,
  ) {
    this.#protocol = protocol
    this.#writers = writers
    this.#probeTimeoutMs = probeTimeoutMs
    this.#onServerFault = onServerFault
  }

  async run<T>(
    work: (tx: Tx) => Promise<Work<T>>,
    { lockWaitRepeats = 1, atOnce }: RunOptions<T> = {},
  ): Promise<T> {
    return repeatTransaction(() => this.#once(work, atOnce), {
      lockWaitRepeats,
      toStoreError: toMysqlStoreError,
      onRepeat: () => {
        this.counters.retries += 1
      },
    })
  }

  /**
   * Throws a `SqlError` if nothing was applied, a `CommitInDoubt` if that is unknown and the same may be sent again, and
   * a `StoreUnavailableError` otherwise.
   */
  async #once<T>(work: (tx: Tx) => Promise<Work<T>>, atOnce: AtOnce<T> | undefined): Promise<T> {
    const session = await this.#writers.acquire()
    try {
      const done = atOnce && (await this.#protocol.commitAtOnce?.(session, atOnce, this.#probeTimeoutMs))
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
    const runNow = (statements: readonly string[]) => this.#protocol.runNow(session, now, statements)
    const done = await work({ session, now, rowsChangedBefore, runNow }).catch(throwAsStall)
    await this.#commit(session)
    return done
  }

  /** Reads the server's clock, and refuses a former primary, which takes only reads, before anything is written. */
  async #begin(session: Session): Promise<number> {
    const [now, ...readOnly] = await this.#protocol.begin(session, this.#probeTimeoutMs)
    if (!readOnly.every(isOff)) {
      session.destroy()
      throw new SqlError('read-only', 'the server is read-only')
    }
    return Number(now)
  }

  async #commit(session: Session): Promise<void> {
    try {
      await this.#protocol.commit(session)
    } catch (error: unknown) {
      if (error instanceof SqlError && isRefusedCommit(error)) throw error
      session.destroy()
      this.#onServerFault()
      // The COMMIT may have reached the server, or still be on its way. A caller that sends the write again waits for its
      // row locks.
      throw new StoreUnavailableError('the connection was lost during COMMIT', {
        applied: 'unknown',
        cause: error,
      })
    }
  }
}

export function toMysqlStoreError(error: SqlError): Error {
  return toStoreError(error, isLoginRefused(error))
}

/** The server has just told its clock, so it can be reached. A late answer then means waits for row locks, one after the other. */
function throwAsStall(error: unknown): never {
  throw error instanceof SqlError ? toStall(error) : error
}

function isOff(cell: Cell): boolean {
  return cell === 0 || cell === '0' || cell === 'OFF'
}

/** If the session can no longer roll back, the server does so when the connection has ended. */
async function rollBack(session: Session): Promise<void> {
  if (session.isBroken) return
  try {
    await session.run('ROLLBACK')
  } catch (error: unknown) {
    session.destroy()
    if (!(error instanceof SqlError)) throw error
  }
}
