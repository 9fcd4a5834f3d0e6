import type { ShareBounds } from '@counterstep/core'
import { type POOL, Pool } from './pool.ts'
import type { Target } from './target.ts'

/** How long a call may wait for its turn; then its transaction is left to the store. */
export const TURN_WAIT_MS = 10_000
const SWEEP_MS = 1_000

/** Told with false when there was no turn in time. */
type Waiter = { readonly until: number; readonly tell: (hasTurn: boolean) => void }

export interface LaneParts {
  readonly name: keyof typeof POOL
  readonly bounds: ShareBounds
  readonly now: () => number
  readonly ringAt: (at: number, callback: () => void) => void
}

/**
 * Calls of one sort in flight, a bounded number, shared by the targets. A call over its target's share waits for its turn
 * behind the others of that target, and holds up no other target.
 */
export class CallLane {
  readonly #parts: LaneParts
  readonly #pool: Pool
  /** The targets with waiting calls are served in turns. */
  readonly #queues = new Map<Target, Waiter[]>()
  #isSweeping = false
  #isClosed = false

  constructor(parts: LaneParts) {
    this.#parts = parts
    this.#pool = new Pool(parts.name, parts.bounds)
  }

  /** Calls in flight. */
  get used(): number {
    return this.#pool.used
  }

  isFullFor(target: Target): boolean {
    return !this.#pool.mayTake(target)
  }

  /** Undefined: the turn is the caller's; else once this is true. Who has had a turn leaves once. */
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
    // A place that has come free may raise the bounds of several targets.
    while (this.#queues.size > 0 && this.#serveOne());
  }

  /** Nothing waits here any more: this node stops. */
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

  /** Of the first target in turn that may have one more call. */
  #serveOne(): boolean {
    for (const [target, queue] of this.#queues) {
      if (!this.#pool.mayTake(target)) continue
      const [next] = queue.splice(0, 1)
      target.waiting--
      // To the end of the turns, or out of them.
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

  /** Those of one target stand in the order in which their time ends. */
  #expire(target: Target, now: number): void {
    const queue = this.#queues.get(target) ?? []
    const kept = queue.findIndex(({ until }) => until > now)
    const expired = queue.splice(0, kept < 0 ? queue.length : kept)
    target.waiting -= expired.length
    if (queue.length === 0) this.#queues.delete(target)
    for (const { tell } of expired) tell(false)
  }
}
