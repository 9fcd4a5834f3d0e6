import type { ShareBounds } from '@counterstep/core'
import { type POOL, Pool } from './pool.ts'
import type { Target } from './target.ts'

/** Says how long a call may wait for its turn. After that its transaction is given back to the store. */
export const TURN_WAIT_MS = 10_000
const SWEEP_MS = 1_000

/** A waiting call. It is told false when there was no turn in time. */
type Waiter = { readonly until: number; readonly tell: (hasTurn: boolean) => void }

export interface LimiterParts {
  readonly name: keyof typeof POOL
  readonly bounds: ShareBounds
  readonly now: () => number
  readonly ringAt: (at: number, callback: () => void) => void
}

/**
 * Bounds the calls of one sort in flight, which the targets share. A call over its target's share waits for its turn
 * behind the others of that target, and delays no other target.
 */
export class CallLimiter {
  readonly #parts: LimiterParts
  readonly #pool: Pool
  /** The targets with waiting calls are served in turns. */
  readonly #queues = new Map<Target, Waiter[]>()
  #isSweeping = false
  #isClosed = false

  constructor(parts: LimiterParts) {
    this.#parts = parts
    this.#pool = new Pool(parts.name, parts.bounds)
  }

  /** The number of calls in flight. */
  get used(): number {
    return this.#pool.used
  }

  isFullFor(target: Target): boolean {
    return !this.#pool.mayTake(target)
  }

  /**
   * Asks for a turn. Returns undefined if the call may go at once. Else it may go when the promise resolves to true.
   * For a call that had a turn, `leave` must be called exactly once.
   */
  enter(target: Target): Promise<boolean> | undefined {
    if ((this.#queues.size === 0 || !this.#queues.has(target)) && this.#pool.mayTake(target)) {
      this.#pool.take(target)
      return undefined
    }
    if (this.#isClosed) return Promise.resolve(false)
    return new Promise((tell) => this.#wait(target, tell))
  }

  leave(target: Target): void {
    this.#pool.give(target)
    // A free place may raise the limits of several targets.
    while (this.#queues.size > 0 && this.#serveOne());
  }

  /** Ends all waits, because this node stops. */
  close(): void {
    this.#isClosed = true
    for (const target of [...this.#queues.keys()]) this.#expire(target, Number.POSITIVE_INFINITY)
  }

  #wait(target: Target, tell: Waiter['tell']): void {
    const waiter = { until: this.#parts.now() + TURN_WAIT_MS, tell }
    const queue = this.#queues.get(target)
    if (queue === undefined) this.#queues.set(target, [waiter])
    else queue.push(waiter)
    target.waiting++
    if (!this.#isSweeping) this.#sweepLater()
  }

  /** Gives a turn to the first target in order that may have one more call. */
  #serveOne(): boolean {
    for (const [target, queue] of this.#queues) {
      if (!this.#pool.mayTake(target)) continue
      const [next] = queue.splice(0, 1)
      target.waiting--
      // The target moves to the end of the order, or out of it.
      this.#queues.delete(target)
      if (queue.length > 0) this.#queues.set(target, queue)
      this.#pool.take(target)
      next?.tell(true)
      return true
    }
    return false
  }

  #sweepLater(): void {
    this.#isSweeping = true
    this.#parts.ringAt(this.#parts.now() + SWEEP_MS, () => {
      this.#isSweeping = false
      for (const target of [...this.#queues.keys()]) this.#expire(target, this.#parts.now())
      if (this.#queues.size > 0) this.#sweepLater()
    })
  }

  /** Ends the waits of one target whose time is over. They stand in the order in which their times end. */
  #expire(target: Target, now: number): void {
    const queue = this.#queues.get(target) ?? []
    const kept = queue.findIndex(({ until }) => until > now)
    const expired = queue.splice(0, kept < 0 ? queue.length : kept)
    target.waiting -= expired.length
    if (queue.length === 0) this.#queues.delete(target)
    for (const { tell } of expired) tell(false)
  }
}
