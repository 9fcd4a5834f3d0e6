import { AsyncLocalStorage } from 'node:async_hooks'
import type { OriginLoad } from '@counterstep/core'
import type { Dispatcher } from 'undici'
import type { Attempt, AttemptHost } from './attempt.ts'
import { AttemptQueue } from './attempt-queue.ts'
import type { DeadlineWheel } from './deadline-wheel.ts'
import { toErrorWord } from './error-word.ts'
import type { SharedPlaces, Waiting } from './shared-places.ts'

export interface OriginOptions {
  /** The largest number of calls in flight at once, and of open connections. */
  readonly inFlightMax: number
  readonly queuedMax: number
  readonly connectionAgeMsMax: number
  readonly createDispatcher: (originKey: string) => Dispatcher
  /** The places that the origin shares with others, if it is not listed. */
  readonly findShared?: (originKey: string) => SharedPlaces | undefined
}

/**
 * Holds the connections of one origin, which are undici's, and the attempts that wait for one of them. Attempts wait
 * here and not in undici, because its queue has no bound, and an attempt whose deadline passes cannot be taken out of
 * it.
 */
export class Origin implements AttemptHost, Waiting {
  /** The time of performance.now() when the last attempt began, in milliseconds. */
  usedAt = 0
  isClosed = false
  readonly #key: string
  readonly #wheel: DeadlineWheel
  readonly #options: OriginOptions
  /** These are older than `connectionAgeMsMax`. They end when their last call has ended. */
  readonly #retired = new Set<Dispatcher>()
  #dispatcher: Dispatcher
  #openedAt: number
  readonly #queue = new AttemptQueue()
  readonly #shared: SharedPlaces | undefined
  #inFlight = 0

  constructor(key: string, wheel: DeadlineWheel, options: OriginOptions) {
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

  start(attempt: Attempt): void {
    attempt.setHost(this)
    if (this.usedAt - this.#openedAt > this.#options.connectionAgeMsMax) this.#replaceConnections()
    if (this.#takePlace()) this.#dispatch(attempt)
    else if (this.#queue.length < this.#options.queuedMax) this.#enqueue(attempt)
    else attempt.fail('busy')
  }

  onSettled(attempt: Attempt): void {
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
      if (next === undefined) this.#givePlace()
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
  #enqueue(attempt: Attempt): void {
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
  #dispatch(attempt: Attempt): void {
    let request: Dispatcher.DispatchOptions
    try {
      request = attempt.buildRequest()
    } catch (error: unknown) {
      attempt.fail(toErrorWord(error))
      this.#givePlace()
      return
    }
    this.#dispatcher.dispatch(request, attempt)
  }
}
