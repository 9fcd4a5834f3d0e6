/** Finds what is due in the store: what a dead node left, what waited, what a lost hint would have told. */
import {
  type Clock,
  type Ids,
  RULES,
  type RunSettings,
  type Store,
  type StoredTransaction,
  StoreUnavailableError,
  type TakeOver,
  takeOver,
} from '@counterstep/core'
import { MinHeap } from './min-heap.ts'
import type { EngineObserver } from './observer.ts'
import type { Runner } from './runner.ts'
import { untilDefinite } from './until-definite.ts'

export interface RecoveryParts {
  readonly store: Store
  readonly runner: Runner
  readonly clock: Clock
  readonly ids: Ids
  readonly observer: EngineObserver
  readonly run: RunSettings
  readonly formatMax: number
  readonly pollMs: number
  readonly claimLimit: number
  readonly inFlightMax: number
  readonly hintsMax: number
}

export class Recovery {
  readonly #parts: RecoveryParts
  /** Instants of this node's clock at which something becomes due. Only hints: the due index is the truth. */
  readonly #hints = new MinHeap<undefined>()
  #cancelTimer: () => void = () => undefined
  #timerAt = Number.POSITIVE_INFINITY
  #polling: Promise<void> | undefined
  #moreIsDue = false
  #stopped = false

  constructor(parts: RecoveryParts) {
    this.#parts = parts
  }

  start(): Promise<void> {
    this.#pollNow()
    return this.#polling ?? Promise.resolve()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelTimer()
    await this.#polling
  }

  hint(dueAt: number): void {
    if (this.#stopped || this.#hints.size >= this.#parts.hintsMax) return
    this.#hints.push(dueAt, undefined)
    this.#setTimer(dueAt)
  }

  /** A run has ended: there may be room for what is due. */
  roomFreed(): void {
    if (this.#moreIsDue && this.#room() >= this.#parts.claimLimit) this.#pollNow()
  }

  #room(): number {
    return this.#parts.inFlightMax - this.#parts.runner.size
  }

  #setTimer(at: number): void {
    if (at >= this.#timerAt || this.#stopped) return
    const { clock } = this.#parts
    this.#cancelTimer()
    this.#timerAt = at
    // One millisecond later, so that a due instant by the store's clock has passed when it is asked.
    this.#cancelTimer = clock.after(at - clock.now() + 1, () => this.#pollNow())
  }

  #pollNow(): void {
    if (this.#stopped || this.#polling !== undefined) return
    this.#cancelTimer()
    this.#timerAt = Number.POSITIVE_INFINITY
    this.#polling = this.#poll().finally(() => {
      this.#polling = undefined
      const now = this.#parts.clock.now()
      while (this.#hints.size > 0 && (this.#hints.firstKey ?? 0) <= now - 1) this.#hints.pop()
      this.#setTimer(Math.min(now + this.#parts.pollMs, this.#hints.firstKey ?? Number.POSITIVE_INFINITY))
      this.roomFreed()
    })
  }

  async #poll(): Promise<void> {
    const { claimLimit, observer } = this.#parts
    this.#moreIsDue = false
    try {
      for (
        let limit = Math.min(claimLimit, this.#room());
        limit > 0 && !this.#stopped;
        limit = Math.min(claimLimit, this.#room())
      ) {
        const claimed = await this.#claim(limit)
        this.#moreIsDue = claimed === limit
        if (!this.#moreIsDue) return
      }
    } catch (error: unknown) {
      const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
      observer.event({ level, name: 'claim-failed', error })
    }
  }

  async #claim(limit: number): Promise<number> {
    const { store, clock, ids, observer, run, runner, formatMax } = this.#parts
    const sentAt = clock.now()
    const tokens = Array.from({ length: limit }, () => ids.token())
    const { now: storeNow, claimed } = await store.claimDue({
      limit,
      leaseMs: run.leaseMs,
      tokens,
      formatMax,
    })
    if (claimed.length > 0) observer.claimed(claimed.length)
    for (const row of claimed) {
      const taken = takeOver(RULES, row, run, { sentAt, now: clock.now(), storeNow })
      if (taken.type === 'run') runner.hold(taken.run)
      else await this.#park(row, taken)
    }
    return claimed.length
  }

  async #park(
    { gid }: StoredTransaction,
    { reason, update }: Extract<TakeOver, { type: 'park' }>,
  ): Promise<void> {
    const { store, clock, ids, observer } = this.#parts
    observer.event({ level: 'error', name: 'transaction-parked', gid, detail: reason })
    const write = { ...update, writeId: ids.writeId() }
    await untilDefinite(
      clock,
      () => store.update(write),
      () => this.#stopped,
    )
  }
}
