import { AsyncLocalStorage } from 'node:async_hooks'
import type { Dispatcher } from 'undici'
import type { Attempt, AttemptHost } from './attempt.ts'
import { AttemptQueue } from './attempt-queue.ts'
import type { DeadlineWheel } from './deadline-wheel.ts'
import { errorWord } from './error-word.ts'

export interface OriginOptions {
  /** Also how many connections the dispatcher may have. */
  readonly inFlightMax: number
  readonly queuedMax: number
  readonly createDispatcher: (originKey: string) => Dispatcher
}

/**
 * One origin's connections, which are undici's, and the attempts that wait for one. They wait here and not in undici,
 * whose queue has no bound and which no deadline takes them out of.
 */
export class Origin implements AttemptHost {
  usedAt = 0
  isClosed = false
  readonly #wheel: DeadlineWheel
  readonly #options: OriginOptions
  readonly #dispatcher: Dispatcher
  readonly #queue = new AttemptQueue()
  #inFlight = 0

  constructor(key: string, wheel: DeadlineWheel, options: OriginOptions) {
    this.#wheel = wheel
    this.#options = options
    this.#dispatcher = options.createDispatcher(key)
  }

  get isIdle(): boolean {
    return this.#inFlight === 0
  }

  start(attempt: Attempt): void {
    attempt.hostedBy(this)
    if (this.#inFlight < this.#options.inFlightMax) this.#dispatch(attempt)
    else if (this.#queue.length < this.#options.queuedMax) this.#enqueue(attempt)
    else attempt.fail('busy')
  }

  settled(attempt: Attempt): void {
    this.#wheel.remove(attempt)
    this.#queue.remove(attempt)
  }

  ended(): void {
    this.#inFlight--
    while (this.#inFlight < this.#options.inFlightMax) {
      const next = this.#queue.shift()
      if (next === undefined) return
      next.runInContext(() => this.#dispatch(next))
    }
  }

  /** Ends what is in flight or waiting as `closed`. Resolves when no connection stands. */
  close(): Promise<void> {
    this.isClosed = true
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) next.fail('closed')
    return this.#dispatcher.destroy()
  }

  /** It keeps the context of the call that waits, so that tracing tools find the right parent. */
  #enqueue(attempt: Attempt): void {
    attempt.runInContext = AsyncLocalStorage.snapshot()
    this.#queue.push(attempt)
  }

  #dispatch(attempt: Attempt): void {
    let request: Dispatcher.DispatchOptions
    try {
      request = attempt.request()
    } catch (error: unknown) {
      attempt.fail(errorWord(error))
      return
    }
    this.#inFlight++
    this.#dispatcher.dispatch(request, attempt)
  }
}
