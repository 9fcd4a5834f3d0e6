import { AsyncLocalStorage } from 'node:async_hooks'
import type { OriginLoad } from '@counterstep/core'
import { AttemptQueue, type Queued } from './attempt-queue.ts'
import type { DeadlineWheel, WheelEntry } from './deadline-wheel.ts'
import { type ErrorWord, toErrorWord } from './error-word.ts'
import type { SharedPlaces, Waiting } from './shared-places.ts'

/** An attempt reports its progress to its origin through this interface. */
export interface AttemptHost<A> {
  /** The caller has its answer: no deadline and no place in a queue is needed any more. */
  onSettled(attempt: A): void
  /** The connection has finished with the request, so another one may take its place. */
  onEnded(): void
}

/** Describes as much of an attempt as its origin uses. */
export interface OriginAttempt<A> extends WheelEntry, Queued<A> {
  /** Runs a function in the async context of the call. */
  runInContext: (run: () => void) => void
  setHost(host: AttemptHost<A>): void
  /** Answers the call if it may not be sent any more. */
  mayBegin(): boolean
  /** Throws if the request cannot be sent. */
  buildRequest(): unknown
  fail(word: ErrorWord): void
}

/** Holds the connections to one origin. */
export interface Connections<A extends OriginAttempt<A>> {
  dispatch(request: ReturnType<A['buildRequest']>, attempt: A): unknown
  /** Calls back when the requests that are under way have ended. */
  close(done: () => void): void
  destroy(): Promise<void>
}

export interface OriginOptions<A extends OriginAttempt<A>> {
  /** The largest number of calls in flight at once, and of open connections. */
  readonly inFlightMax: number
  readonly queuedMax: number
  readonly connectionAgeMsMax: number
  readonly createDispatcher: (originKey: string) => Connections<A>
  /** The places that the origin shares with others, if it is not listed. */
  readonly findShared?: (originKey: string) => SharedPlaces | undefined
}

/**
 * Holds the connections of one origin, and the attempts that wait for one of them. Attempts wait here and not in undici,
 * because its queue has no bound, and an attempt whose deadline passes cannot be taken out of it.
 */
export class Origin<A extends OriginAttempt<A>> implements AttemptHost<A>, Waiting {
  /** The time of performance.now() when the last attempt began, in milliseconds. */
  usedAt = 0
  isClosed = false
  readonly #key: string
  readonly #wheel: DeadlineWheel
  readonly #options: OriginOptions<A>
  /** These are older than `connectionAgeMsMax`. They end when their last call has ended. */
  readonly #retired = new Set<Connections<A>>()
  #dispatcher: Connections<A>
  #openedAt: number
  readonly #queue = new AttemptQueue<A>()
  readonly #shared: SharedPlaces | undefined
  #inFlight = 0

  constructor(key: string, wheel: DeadlineWheel, options: OriginOptions<A>) {
    this.#key = key
    this.#wheel = wheel
    this.#options = options
    this.#dispatcher = options.createDispatcher(key)
    this.#openedAt = performance.now()
    this.#shared = options.findShared?.(key)
  }

  get isIdle(): boolean {
    return this.#inFlight === 0 && this.#queue.length === 0
  }

  get load(): OriginLoad {
    return { origin: this.#key, inFlight: this.#inFlight, queued: this.#queue.length }
  }

  start(attempt: A): void {
    attempt.setHost(this)
    if (this.usedAt - this.#openedAt > this.#options.connectionAgeMsMax) this.#replaceConnections()
    if (this.#takePlace()) this.#dispatch(attempt)
    else if (this.#queue.length < this.#options.queuedMax) this.#enqueue(attempt)
    else attempt.fail('busy')
  }

  onSettled(attempt: A): void {
    this.#wheel.remove(attempt)
    this.#queue.remove(attempt)
  }

  onEnded(): void {
    this.#givePlace()
    this.goOn()
  }

  goOn(): void {
    while (this.#queue.length > 0 && this.#takePlace()) {
      const next = this.#queue.shift()
      if (next === undefined || !next.mayBegin()) this.#givePlace()
      else next.runInContext(() => this.#dispatch(next))
    }
  }

  /** Ends every call that is in flight or waits, with the word `closed`. Resolves when no connection is open. */
  async close(): Promise<void> {
    this.isClosed = true
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) next.fail('closed')
    this.#shared?.forget(this)
    const dispatchers = [this.#dispatcher, ...this.#retired]
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.destroy()))
  }

  /**
   * Replaces all connections at once. undici's own `clientTtl` would read the clock for each connection at each call,
   * which took a sixth of a call's CPU time.
   */
  #replaceConnections(): void {
    const old = this.#dispatcher
    this.#retired.add(old)
    old.close(() => this.#retired.delete(old))
    this.#dispatcher = this.#options.createDispatcher(this.#key)
    this.#openedAt = this.usedAt
  }

  /** Keeps the async context of the call that waits, so that tracing tools find the right parent. */
  #enqueue(attempt: A): void {
    attempt.runInContext = AsyncLocalStorage.snapshot()
    this.#queue.push(attempt)
  }

  #takePlace(): boolean {
    if (this.#inFlight >= this.#options.inFlightMax || this.#shared?.take(this, this.#inFlight) === false)
      return false
    this.#inFlight++
    return true
  }

  #givePlace(): void {
    this.#inFlight--
    this.#shared?.give()
  }

  /** The attempt has a place. */
  #dispatch(attempt: A): void {
    let request: ReturnType<A['buildRequest']>
    try {
      request = attempt.buildRequest() as ReturnType<A['buildRequest']>
    } catch (error: unknown) {
      attempt.fail(toErrorWord(error))
      this.#givePlace()
      return
    }
    this.#dispatcher.dispatch(request, attempt)
  }
}
