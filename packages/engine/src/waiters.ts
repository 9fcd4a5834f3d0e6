import type { Clock } from '@counterstep/core'
import type { Gid, TransactionView } from '@counterstep/protocol'

const FIRST_LOOK_MS = 50
const LOOK_MS_MAX = 1_000

export interface Waiter {
  /** The final view, or undefined when the time is over. */
  readonly outcome: Promise<TransactionView | undefined>
  cancel(): void
}

/** Reads the transactions that this node does not run: the final views among them. */
export type LookUp = (gids: readonly Gid[]) => Promise<readonly TransactionView[]>

/**
 * Callers that wait for an end. Those of transactions that run here are told by the runner; for all others one
 * batched look at the store serves everybody, less and less often.
 */
export class Waiters {
  readonly #clock: Clock
  readonly #lookUp: LookUp
  readonly #runsHere: (gid: Gid) => boolean
  readonly #waiting = new Map<Gid, Set<(view: TransactionView | undefined) => void>>()
  readonly #waitersMax: number
  #count = 0
  #looking = false

  constructor(clock: Clock, waitersMax: number, runsHere: (gid: Gid) => boolean, lookUp: LookUp) {
    this.#clock = clock
    this.#waitersMax = waitersMax
    this.#runsHere = runsHere
    this.#lookUp = lookUp
  }

  /** Over waitersMax it is over at once. */
  open(gid: Gid, waitMs: number): Waiter {
    if (this.#count >= this.#waitersMax)
      return { outcome: Promise.resolve(undefined), cancel: () => undefined }
    this.#count++
    let settle: (view: TransactionView | undefined) => void = () => undefined
    const outcome = new Promise<TransactionView | undefined>((resolve) => {
      const stopTimer = this.#clock.after(waitMs, () => settle(undefined))
      settle = (view) => {
        if (!this.#forget(gid, settle)) return
        stopTimer()
        resolve(view)
      }
    })
    const others = this.#waiting.get(gid)
    if (others === undefined) this.#waiting.set(gid, new Set([settle]))
    else others.add(settle)
    return { outcome, cancel: () => settle(undefined) }
  }

  finished(gid: Gid, view: () => TransactionView): void {
    const settles = this.#waiting.get(gid)
    if (settles === undefined) return
    const seen = view()
    for (const settle of [...settles]) settle(seen)
  }

  /** Looks at the store for those who wait for what does not run here, until nobody does. */
  watch(): void {
    if (this.#looking) return
    this.#looking = true
    this.#lookSoon(FIRST_LOOK_MS)
  }

  stop(): void {
    for (const settles of [...this.#waiting.values()]) for (const settle of [...settles]) settle(undefined)
  }

  #lookSoon(delayMs: number): void {
    this.#clock.after(delayMs, () => void this.#look(delayMs))
  }

  async #look(delayMs: number): Promise<void> {
    const gids = [...this.#waiting.keys()].filter((gid) => !this.#runsHere(gid))
    if (gids.length === 0) {
      this.#looking = false
      return
    }
    for (const view of await this.#lookUp(gids)) this.finished(view.gid as Gid, () => view)
    this.#lookSoon(Math.min(delayMs * 2, LOOK_MS_MAX))
  }

  #forget(gid: Gid, settle: (view: TransactionView | undefined) => void): boolean {
    const settles = this.#waiting.get(gid)
    if (settles === undefined || !settles.delete(settle)) return false
    if (settles.size === 0) this.#waiting.delete(gid)
    this.#count--
    return true
  }
}
