import type { Clock, Store, StoreStats } from '@counterstep/core'
import { within } from '../until-definite.ts'

/** Counting rows costs the store time, so it is asked this often at most, however many look. */
const AGE_MAX_MS = 5_000
/** Who looks waits this long at most, and then gets the figures from before. */
const WAIT_MS = 500
/** A store that has not answered for this long is away. */
const AWAY_AFTER_MS = 3_000

/** The figures of the store, as old as they may be. */
export interface StoreFigures {
  /** Undefined: the store has never answered. */
  readonly stats: StoreStats | undefined
  /** When they were read, in epoch milliseconds. 0: never. */
  readonly asOf: number
  readonly isAway: boolean
}

/** Reads the figures of a store for all who look, and remembers the last ones for the time when the store is away. */
export class StoreReader {
  readonly #store: Pick<Store, 'stats'>
  readonly #clock: Clock
  readonly #readEpochMs: () => number
  #current: Promise<StoreStats | undefined> | undefined
  #askedAt = 0
  #isPending = false
  #hasFailed = false
  #last: { readonly stats: StoreStats; readonly at: number } | undefined

  constructor(store: Pick<Store, 'stats'>, clock: Clock, readEpochMs: () => number) {
    this.#store = store
    this.#clock = clock
    this.#readEpochMs = readEpochMs
  }

  /** Waits for the store. The result is undefined if it does not answer; then it is asked again after 5 s. */
  read(): Promise<StoreStats | undefined> {
    const now = this.#clock.now()
    if (this.#current === undefined || (!this.#isPending && now - this.#askedAt >= AGE_MAX_MS)) {
      this.#askedAt = now
      this.#isPending = true
      this.#current = this.#ask()
    }
    return this.#current
  }

  /** Returns the newest figures that there are after a short wait. */
  async readSoon(): Promise<StoreFigures> {
    await within(this.#clock, WAIT_MS, this.read())
    const isLate = this.#isPending && this.#clock.now() - this.#askedAt >= AWAY_AFTER_MS
    return {
      stats: this.#last?.stats,
      asOf: this.#last?.at ?? 0,
      isAway: this.#hasFailed || isLate || (this.#last === undefined && this.#isPending),
    }
  }

  async #ask(): Promise<StoreStats | undefined> {
    try {
      const stats = await this.#store.stats()
      this.#last = { stats, at: this.#readEpochMs() }
      this.#hasFailed = false
      return stats
    } catch {
      // A store that does not answer is shown by a gauge and by the overview, and reported by the engine.
      this.#hasFailed = true
      return undefined
    } finally {
      this.#isPending = false
    }
  }
}
