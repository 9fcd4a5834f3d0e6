import type { Clock } from '@counterstep/core'
import type { Gid, TransactionView } from '@counterstep/protocol'

const FIRST_LOOK_MS = 50
const LOOK_MS_MAX = 1_000
/** What is due so soon after is looked at together. */
const TOGETHER_MS = 10

export interface Waiter {
  /** The final view, or undefined when the time is over. */
  readonly outcome: Promise<TransactionView | undefined>
  cancel(): void
}

/** Reads the transactions that this node does not run: the final views among them. */
export type LookUp = (gids: readonly Gid[]) => Promise<readonly TransactionView[]>

type Settle = (view: TransactionView | undefined) => void

interface Waited {
  /** Each waiter has an instant: a due time after it is not waited for. */
  readonly settles: Map<Settle, number>
  /** When the store is asked, if it does not run here. */
  lookAt: number
  delayMs: number
}

/**
 * Callers that wait for an end. Those of transactions that run here are told by the runner; for the others the store
 * is looked at: what came up lately soon, what goes on for long less and less often, all that is due in one look.
 */
export class Waiters {
  readonly #clock: Clock
  readonly #lookUp: LookUp
  readonly #runsHere: (gid: Gid) => boolean
  readonly #waiting = new Map<Gid, Waited>()
  readonly #waitersMax: number
  #count = 0
  #isLooking = false
  #timerAt = Number.POSITIVE_INFINITY
  #cancelTimer: () => void = () => undefined

  constructor(clock: Clock, waitersMax: number, runsHere: (gid: Gid) => boolean, lookUp: LookUp) {
    this.#clock = clock
    this.#waitersMax = waitersMax
    this.#runsHere = runsHere
    this.#lookUp = lookUp
  }

  /** Over waitersMax it is over at once. `untilIdle`: it is over when what it waits for is due only after `waitMs`. */
  open(gid: Gid, waitMs: number, untilIdle = false): Waiter {
    if (this.#count >= this.#waitersMax)
      return { outcome: Promise.resolve(undefined), cancel: () => undefined }
    this.#count++
    let settle: Settle = () => undefined
    const dueMax = untilIdle ? this.#clock.now() + waitMs : Number.POSITIVE_INFINITY
    const outcome = new Promise<TransactionView | undefined>((resolve) => {
      const stopTimer = this.#clock.after(waitMs, () => settle(undefined))
      settle = (view) => {
        if (!this.#forget(gid, settle)) return
        stopTimer()
        resolve(view)
      }
    })
    const others = this.#waiting.get(gid)
    if (others === undefined) {
      const settles = new Map([[settle, dueMax]])
      this.#waiting.set(gid, { settles, lookAt: Number.POSITIVE_INFINITY, delayMs: 0 })
    } else others.settles.set(settle, dueMax)
    return { outcome, cancel: () => settle(undefined) }
  }

  finished(gid: Gid, view: () => TransactionView): void {
    const waited = this.#waiting.get(gid)
    if (waited === undefined) return
    const seen = view()
    for (const settle of [...waited.settles.keys()]) settle(seen)
  }

  /** It does not run here: the store is looked at for those who wait for it, until it is final or nobody does. */
  watch(gid: Gid): void {
    const waited = this.#waiting.get(gid)
    if (waited === undefined) return
    waited.delayMs = FIRST_LOOK_MS
    waited.lookAt = this.#clock.now() + FIRST_LOOK_MS
    // The end of the look that is under way sets the timer again.
    if (!this.#isLooking) this.#setTimer(waited.lookAt)
  }

  /** Nothing happens to it before that instant: waits that end earlier, and were opened so, are over. */
  idleUntil(gid: Gid, dueAt: number): void {
    const waited = this.#waiting.get(gid)
    if (waited === undefined) return
    for (const [settle, dueMax] of [...waited.settles]) if (dueAt > dueMax) settle(undefined)
  }

  stop(): void {
    for (const { settles } of [...this.#waiting.values()])
      for (const settle of [...settles.keys()]) settle(undefined)
  }

  #setTimer(at: number): void {
    if (at >= this.#timerAt) return
    this.#cancelTimer()
    this.#timerAt = at
    this.#cancelTimer = this.#clock.after(at - this.#clock.now(), () => void this.#look())
  }

  async #look(): Promise<void> {
    this.#timerAt = Number.POSITIVE_INFINITY
    this.#isLooking = true
    const now = this.#clock.now()
    const gids: Gid[] = []
    for (const [gid, waited] of this.#waiting) {
      if (waited.lookAt > now + TOGETHER_MS) continue
      waited.delayMs = Math.min(waited.delayMs * 2, LOOK_MS_MAX)
      waited.lookAt = this.#runsHere(gid) ? Number.POSITIVE_INFINITY : now + waited.delayMs
      if (waited.lookAt < Number.POSITIVE_INFINITY) gids.push(gid)
    }
    for (const view of await this.#lookUp(gids)) this.finished(view.gid as Gid, () => view)
    this.#isLooking = false
    let next = Number.POSITIVE_INFINITY
    for (const { lookAt } of this.#waiting.values()) next = Math.min(next, lookAt)
    // A look that took long is not followed by another at once.
    if (next < Number.POSITIVE_INFINITY) this.#setTimer(Math.max(next, this.#clock.now() + TOGETHER_MS))
  }

  #forget(gid: Gid, settle: Settle): boolean {
    const waited = this.#waiting.get(gid)
    if (waited === undefined || !waited.settles.delete(settle)) return false
    if (waited.settles.size === 0) this.#waiting.delete(gid)
    this.#count--
    return true
  }
}
