import type { Clock } from '@counterstep/core'
import type { Gid, TransactionView } from '@counterstep/protocol'

const FIRST_READ_MS = 50
const READ_MS_MAX = 1_000
/** Transactions whose next reads are this close are read together. */
const TOGETHER_MS = 10
/** So many callers are told of an end in one turn of the event loop. An answer may be large, and others are served in between. */
const TOLD_AT_ONCE_MAX = 64

/**
 * A caller that waits holds its request in memory for as long, which is some three times its content. Those that wait hold at
 * most this many characters of content together. A short request is not counted.
 */
const HELD_CHARACTERS_MAX = 32 * 1024 * 1024
const SHORT_CHARACTERS = 8_192

export interface Waiter {
  /** It resolves to the final view, or to undefined when the time is over. */
  readonly outcome: Promise<TransactionView | undefined>
  cancel(): void
}

/** Reads transactions that this node does not run, and returns the views of the final ones. */
export type LookUp = (gids: readonly Gid[]) => Promise<readonly TransactionView[]>

type Settle = (view: TransactionView | undefined) => void

interface Waited {
  /** The waiters, each with an instant. A waiter is settled early if the transaction is due only after that instant. */
  readonly settles: Map<Settle, number>
  /** Says when the store is read next, if the transaction does not run here. */
  readAt: number
  delayMs: number
}

/**
 * Callers that wait for the end of a transaction. The runner settles those whose transactions run here. For the
 * others the store is read: soon at first, then less and less often, and all due transactions in one read.
 */
export class Waiters {
  readonly #clock: Clock
  readonly #lookUp: LookUp
  readonly #runsHere: (gid: Gid) => boolean
  readonly #waiting = new Map<Gid, Waited>()
  readonly #waitersMax: number
  readonly #mayWaitFor: (gid: Gid) => boolean
  #count = 0
  #heldCharacters = 0
  #isReading = false
  #timerAt = Number.POSITIVE_INFINITY
  #cancelTimer: () => void = () => undefined

  /** @param mayWaitFor tells whether a caller may wait for a transaction that does not run here. */
  constructor(
    clock: Clock,
    waitersMax: number,
    runsHere: (gid: Gid) => boolean,
    lookUp: LookUp,
    mayWaitFor: (gid: Gid) => boolean = () => true,
  ) {
    this.#clock = clock
    this.#waitersMax = waitersMax
    this.#runsHere = runsHere
    this.#lookUp = lookUp
    this.#mayWaitFor = mayWaitFor
  }

  /**
   * Opens a waiter. Beyond waitersMax, or if the waiting callers would hold too much, it is settled at once. With
   * `untilIdle` it is settled when the transaction is due only after `waitMs`. `characters` is how long the content is that
   * the caller holds.
   */
  open(gid: Gid, waitMs: number, untilIdle = false, characters = 0): Waiter {
    const held = characters > SHORT_CHARACTERS ? characters : 0
    const isOver = held > 0 && this.#heldCharacters + held > HELD_CHARACTERS_MAX
    if (this.#count >= this.#waitersMax || isOver)
      return { outcome: Promise.resolve(undefined), cancel: () => undefined }
    this.#count++
    this.#heldCharacters += held
    let settle: Settle = () => undefined
    const dueMax = untilIdle ? this.#clock.now() + waitMs : Number.POSITIVE_INFINITY
    const outcome = new Promise<TransactionView | undefined>((resolve) => {
      const stopTimer = this.#clock.after(waitMs, () => settle(undefined))
      settle = (view) => {
        if (!this.#forget(gid, settle)) return
        this.#heldCharacters -= held
        stopTimer()
        resolve(view)
      }
    })
    const others = this.#waiting.get(gid)
    if (others === undefined) {
      const settles = new Map([[settle, dueMax]])
      this.#waiting.set(gid, { settles, readAt: Number.POSITIVE_INFINITY, delayMs: 0 })
    } else others.settles.set(settle, dueMax)
    return { outcome, cancel: () => settle(undefined) }
  }

  settleFinished(gid: Gid, view: () => TransactionView): void {
    const waited = this.#waiting.get(gid)
    if (waited === undefined) return
    this.#tellByTurns([...waited.settles.keys()], view())
  }

  #tellByTurns(settles: Settle[], view: TransactionView): void {
    for (const settle of settles.splice(0, TOLD_AT_ONCE_MAX)) settle(view)
    if (settles.length > 0) this.#clock.after(0, () => this.#tellByTurns(settles, view))
  }

  /**
   * Reads the store for a transaction that does not run here, until it is final or no waiter is left. Where callers may not
   * wait for it, they are told at once that their time is over.
   */
  watch(gid: Gid): void {
    const waited = this.#waiting.get(gid)
    if (waited === undefined) return
    if (!this.#mayWaitFor(gid)) {
      for (const settle of [...waited.settles.keys()]) settle(undefined)
      return
    }
    waited.delayMs = FIRST_READ_MS
    waited.readAt = this.#clock.now() + FIRST_READ_MS
    // The end of the read that is under way sets the timer again.
    if (!this.#isReading) this.#setTimer(waited.readAt)
  }

  /**
   * Settles the waiters of a transaction that is idle until `dueAt`, if
   * they end earlier and were opened with `untilIdle`.
   */
  settleIdle(gid: Gid, dueAt: number): void {
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
    this.#cancelTimer = this.#clock.after(at - this.#clock.now(), () => void this.#readStore())
  }

  async #readStore(): Promise<void> {
    this.#timerAt = Number.POSITIVE_INFINITY
    this.#isReading = true
    const now = this.#clock.now()
    const gids: Gid[] = []
    for (const [gid, waited] of this.#waiting) {
      if (waited.readAt > now + TOGETHER_MS) continue
      waited.delayMs = Math.min(waited.delayMs * 2, READ_MS_MAX)
      waited.readAt = this.#runsHere(gid) ? Number.POSITIVE_INFINITY : now + waited.delayMs
      if (waited.readAt < Number.POSITIVE_INFINITY) gids.push(gid)
    }
    for (const view of await this.#lookUp(gids)) this.settleFinished(view.gid as Gid, () => view)
    this.#isReading = false
    let next = Number.POSITIVE_INFINITY
    for (const { readAt } of this.#waiting.values()) next = Math.min(next, readAt)
    // A read that took long is not followed by another at once.
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
