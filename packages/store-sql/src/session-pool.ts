import { StoreUnavailableError } from '@counterstep/core'
import { SqlError } from './sql-error.ts'

export interface PoolBounds {
  readonly sessionsMax: number
  readonly waitersMax: number
  readonly waitTimeoutMs: number
}

/** One connection that is set up and checked. */
export interface PooledSession {
  /** It must not be used again. */
  readonly isBroken: boolean
  idleSince: number
  /** Says goodbye to the server. */
  end(): void
}

interface Waiter<Session> {
  readonly resolve: (session: Session) => void
  readonly reject: (error: unknown) => void
  readonly timer: NodeJS.Timeout
}

/** Half of the time that the server allows an idle session, which leaves room for the timer's own delay. */
const IDLE_MS_MAX = 5_000
const IDLE_CHECK_MS = 2_500

/** Sessions of one kind. Their number is bounded; the callers that wait for one are bounded in number and time. */
export class SessionPool<Session extends PooledSession> {
  readonly #open: () => Promise<Session>
  readonly #bounds: PoolBounds
  readonly #idle: Session[] = []
  readonly #waiters: Waiter<Session>[] = []
  readonly #idleCheck: NodeJS.Timeout
  /** Counts the sessions that are being opened, in use or idle. */
  #sessions = 0
  #isClosed = false
  #onEmpty: (() => void) | undefined

  constructor(open: () => Promise<Session>, bounds: PoolBounds) {
    this.#open = open
    this.#bounds = bounds
    this.#idleCheck = setInterval(() => this.#endIdle(IDLE_MS_MAX), IDLE_CHECK_MS).unref()
  }

  async acquire(): Promise<Session> {
    if (this.#isClosed) throw toClosedError()
    const idle = this.#takeIdle()
    if (idle !== undefined) return idle
    if (this.#sessions < this.#bounds.sessionsMax) {
      try {
        return await this.#openOne()
      } catch (error: unknown) {
        if (!isCrowded(error) || this.#sessions === 0) throw error
        // The server takes no more sessions than there are. One of them will be released.
        const freed = this.#takeIdle()
        if (freed !== undefined) return freed
      }
    }
    return this.#wait()
  }

  #wait(): Promise<Session> {
    if (this.#isClosed) return Promise.reject(toClosedError())
    if (this.#waiters.length >= this.#bounds.waitersMax)
      return Promise.reject(toUnavailableError('too many calls wait for a connection'))
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#giveUp(waiter), this.#bounds.waitTimeoutMs)
      const waiter: Waiter<Session> = { resolve, reject, timer }
      this.#waiters.push(waiter)
    })
  }

  /** A broken session is closed, and a new one is opened for the next caller that waits. */
  release(session: Session): void {
    session.idleSince = performance.now()
    if (session.isBroken || this.#isClosed) {
      session.end()
      this.#removeSession()
      return
    }
    const waiter = this.#nextWaiter()
    if (waiter === undefined) this.#idle.push(session)
    else waiter.resolve(session)
  }

  /** Is called after a sign that the server has gone or is another one: the idle sessions still lead to the old one. */
  discardIdle(): void {
    this.#endIdle(Number.NEGATIVE_INFINITY)
  }

  /** Resolves when the last session in use has come back. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#idleCheck)
    for (let waiter = this.#nextWaiter(); waiter !== undefined; waiter = this.#nextWaiter())
      waiter.reject(toClosedError())
    this.discardIdle()
    if (this.#sessions === 0) return
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve
    })
  }

  async #openOne(): Promise<Session> {
    this.#sessions += 1
    try {
      return await this.#open()
    } catch (error: unknown) {
      if (isCrowded(error) && this.#sessions > 1) this.#sessions -= 1
      else this.#removeSession()
      throw error
    }
  }

  #removeSession(): void {
    this.#sessions -= 1
    const waiter = this.#nextWaiter()
    if (waiter !== undefined) this.#openOne().then(waiter.resolve, waiter.reject)
    else if (this.#sessions === 0) this.#onEmpty?.()
  }

  /** Takes the session that was used last, so that the others may grow old and be closed. */
  #takeIdle(): Session | undefined {
    for (let session = this.#idle.pop(); session !== undefined; session = this.#idle.pop()) {
      if (!session.isBroken && performance.now() - session.idleSince < IDLE_MS_MAX) return session
      session.end()
      this.#sessions -= 1
    }
    return undefined
  }

  #endIdle(olderThanMs: number): void {
    const now = performance.now()
    const kept = this.#idle.filter((session) => !session.isBroken && now - session.idleSince <= olderThanMs)
    for (const session of this.#idle) {
      if (kept.includes(session)) continue
      session.end()
      this.#sessions -= 1
    }
    this.#idle.splice(0, this.#idle.length, ...kept)
  }

  #nextWaiter(): Waiter<Session> | undefined {
    const waiter = this.#waiters.shift()
    if (waiter !== undefined) clearTimeout(waiter.timer)
    return waiter
  }

  #giveUp(waiter: Waiter<Session>): void {
    this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
    waiter.reject(toUnavailableError('no connection has become free in time'))
  }
}

function isCrowded(error: unknown): boolean {
  return error instanceof SqlError && error.fault === 'crowded'
}

function toUnavailableError(message: string): StoreUnavailableError {
  return new StoreUnavailableError(message, { applied: 'no' })
}

function toClosedError(): StoreUnavailableError {
  return toUnavailableError('the store is closed')
}
