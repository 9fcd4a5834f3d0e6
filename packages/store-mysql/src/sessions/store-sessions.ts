import type { StoreEvent } from '@counterstep/core'
import { isServerFault, SessionPool, SqlError } from '@counterstep/store-sql'
import { readDurability, toServerIdentity, type Variables } from '../schema/server-facts.ts'
import { toMysqlStoreError } from '../transactions/database-transactions.ts'
import type { ConnectionTarget } from './connection-target.ts'
import { openSession, type SessionSettings } from './open-session.ts'
import { isLoginRefused } from './server-errors.ts'
import type { Session } from './session.ts'

export interface StoreSessionsSettings extends Omit<SessionSettings, 'autocommit'> {
  readonly connectionsMax: number
  readonly onEvent: (event: StoreEvent) => void
}

/** If this many calls wait, further ones are refused at once. */
const WAITERS_MAX = 1_000
/** A read whose connection had ended is repeated, since it has changed nothing. */
const READ_TRIES = 2

/** The store's connections: some that write, without autocommit, and some that read. */
export class StoreSessions {
  readonly writers: SessionPool<Session>
  readonly #readers: SessionPool<Session>
  readonly #onEvent: (event: StoreEvent) => void
  #server: Variables | undefined

  constructor(target: ConnectionTarget, settings: StoreSessionsSettings) {
    const { connectionsMax, statementTimeoutMs, onEvent } = settings
    const open = (autocommit: boolean) => () => this.#open(target, { ...settings, autocommit })
    const bounds = { waitersMax: WAITERS_MAX, waitTimeoutMs: statementTimeoutMs }
    const writersMax = Math.ceil(connectionsMax / 2)
    this.#onEvent = onEvent
    this.writers = new SessionPool(open(false), { ...bounds, sessionsMax: writersMax })
    this.#readers = new SessionPool(open(true), { ...bounds, sessionsMax: connectionsMax - writersMax })
  }

  /** The server's variables when the newest connection was opened. */
  get server(): Variables {
    return this.#server ?? new Map()
  }

  async read<T>(work: (session: Session) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#readOnce(work)
      } catch (error: unknown) {
        if (!(error instanceof SqlError)) throw error
        if (isServerFault(error)) this.discardIdle()
        if (error.fault !== 'lost' || tries === READ_TRIES) throw toMysqlStoreError(error)
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

  /** The next calls open connections, and so look up the server's address again. */
  discardIdle(): void {
    this.writers.discardIdle()
    this.#readers.discardIdle()
  }

  async close(): Promise<void> {
    await Promise.all([this.writers.close(), this.#readers.close()])
  }

  async #open(target: ConnectionTarget, settings: SessionSettings): Promise<Session> {
    try {
      const { session, variables } = await openSession(target, settings)
      this.#watch(variables)
      return session
    } catch (error: unknown) {
      if (!(error instanceof SqlError)) throw error
      const { fault, message, errno, code } = error
      // The next attempt would only meet the same error, unless another connection is closed first.
      const isCrowded = fault === 'crowded'
      const trouble = isLoginRefused(error) ? 'the server refused the login' : 'the server cannot be reached'
      const text = `${trouble}: ${message}`
      throw new SqlError(isCrowded ? 'crowded' : 'unavailable', text, errno, code)
    }
  }

  /** After a failover the newest writes may be missing, and the new server may promise less. */
  #watch(variables: Variables): void {
    const before = this.#server
    this.#server = variables
    if (before === undefined || toServerIdentity(before) === toServerIdentity(variables)) return
    const durability = readDurability(variables)
    const detail = `from ${toServerIdentity(before)} to ${toServerIdentity(variables)}, class ${durability.class}`
    this.#onEvent({ level: 'warn', name: 'store-server-changed', detail })
  }
}
