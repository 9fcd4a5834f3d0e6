import { AssertionError, type StoreEvent } from '@counterstep/core'
import { isServerFault, SessionPool, SqlError, toStoreError } from '@counterstep/store-sql'
import { readDurability, type ServerFacts } from '../schema/server-facts.ts'
import type { ConnectionTarget } from './connection-target.ts'
import { openSession, type SessionSettings } from './open-session.ts'
import { isLoginRefused } from './server-errors.ts'
import type { Session } from './session.ts'

export interface StoreSessionsSettings extends SessionSettings {
  readonly connectionsMax: number
  readonly onEvent: (event: StoreEvent) => void
}

/** If this many calls wait, further ones are refused at once. */
const WAITERS_MAX = 1_000
/** A read whose connection had ended is repeated, since it has changed nothing. */
const READ_TRIES = 2

/** The store's connections: some that write, and some that read. */
export class StoreSessions {
  readonly writers: SessionPool<Session>
  /** Opens a connection that belongs to no pool. */
  readonly open: () => Promise<Session>
  readonly #readers: SessionPool<Session>
  readonly #onEvent: (event: StoreEvent) => void
  #server: ServerFacts | undefined

  constructor(target: ConnectionTarget, settings: StoreSessionsSettings) {
    const { connectionsMax, statementTimeoutMs, onEvent } = settings
    this.open = () => this.#open(target, settings)
    const bounds = { waitersMax: WAITERS_MAX, waitTimeoutMs: statementTimeoutMs }
    const writersMax = Math.ceil(connectionsMax / 2)
    this.#onEvent = onEvent
    this.writers = new SessionPool(this.open, { ...bounds, sessionsMax: writersMax })
    this.#readers = new SessionPool(this.open, { ...bounds, sessionsMax: connectionsMax - writersMax })
  }

  /** The server as it was when the newest connection was opened. */
  get server(): ServerFacts {
    if (this.#server === undefined) throw new AssertionError('no connection was opened yet')
    return this.#server
  }

  async read<T>(work: (session: Session) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#readOnce(work)
      } catch (error: unknown) {
        if (!(error instanceof SqlError)) throw error
        this.noteFault(error)
        if (error.fault !== 'lost' || tries === READ_TRIES) throw toPostgresStoreError(error)
      }
    }
  }

  async #readOnce<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.#readers.acquire()
    try {
      return await work(session)
    } finally {
      this.#readers.release(session)
    }
  }

  /**
   * After a sign that the server has gone or is another one the next calls open connections, and so look up its address again. One lost
   * connection is no such sign: the sockets of the others tell their own end, and a login costs the server and this process 10 ms each.
   */
  noteFault(error: SqlError): void {
    if (!isServerFault(error) || error.fault === 'lost') return
    this.writers.discardIdle()
    this.#readers.discardIdle()
  }

  async close(): Promise<void> {
    await Promise.all([this.writers.close(), this.#readers.close()])
  }

  async #open(target: ConnectionTarget, settings: SessionSettings): Promise<Session> {
    try {
      const { session, server } = await openSession(target, settings)
      this.#watch(server)
      return session
    } catch (error: unknown) {
      if (!(error instanceof SqlError)) throw error
      const { fault, message, code } = error
      // The next attempt would only meet the same error, unless another connection is closed first.
      const isCrowded = fault === 'crowded'
      const trouble = isLoginRefused(error) ? 'the server refused the login' : 'the server cannot be reached'
      throw new SqlError(isCrowded ? 'crowded' : 'unavailable', `${trouble}: ${message}`, 0, code)
    }
  }

  /** After a failover the newest writes may be missing, and the new server may promise less. */
  #watch(server: ServerFacts): void {
    const before = this.#server
    this.#server = server
    if (before === undefined || before.identity === server.identity) return
    const durability = readDurability(server)
    const detail = `from ${before.identity} to ${server.identity}, class ${durability.class}`
    this.#onEvent({ level: 'warn', name: 'store-server-changed', detail })
  }
}

export function toPostgresStoreError(error: SqlError): Error {
  return toStoreError(error, isLoginRefused(error))
}
