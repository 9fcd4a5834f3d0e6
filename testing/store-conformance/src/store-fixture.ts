import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { Store } from '@counterstep/core'
import type { ConformanceOptions } from './runner.ts'

const START_AT = 1_600_000_000_000
const POLL_MS = 5

/** One test's stores, all at one place, and the passing of time as those stores see it. */
export class TestBed {
  readonly place: string
  readonly #open: ConformanceOptions['open']
  readonly #opened = new Set<Store>()
  #now = START_AT
  #hasExactClock = false

  constructor(open: ConformanceOptions['open'], place: string) {
    this.#open = open
    this.place = place
  }

  /** Opens a store at this test's place; the second call is the same database. */
  async open(): Promise<Store> {
    const store = await this.#open({ now: () => this.#now, place: this.place })
    this.#opened.add(store)
    // No flag: the store's own answer tells whether it lives by the suite's clock.
    this.#hasExactClock = (await store.stats()).now === this.#now
    return store
  }

  /** The store's clock is the suite's, so an instant can be met exactly. */
  get hasExactClock(): boolean {
    return this.#hasExactClock
  }

  /** Long enough to act under, short enough to wait for where only real time passes. */
  get leaseMs(): number {
    return this.#hasExactClock ? 10_000 : 1_000
  }

  /** Long enough to read a row that has just finished, short enough to wait for its end. */
  get retentionMs(): number {
    return this.#hasExactClock ? 60_000 : 1_000
  }

  /** Returns when the store's clock shows at least `ms` more; exactly `ms` more where it is the suite's. */
  async pass(store: Store, ms: number): Promise<void> {
    if (this.#hasExactClock) {
      this.#now += ms
      return
    }
    const until = (await store.stats()).now + ms
    while ((await store.stats()).now < until) await delay(POLL_MS)
  }

  /**
   * Starts a span of the store's time. The check that it returns ends it and takes instants which the store has set
   * meanwhile: where the clock is the suite's, they must equal it.
   */
  async startSpan(store: Store): Promise<(...instants: readonly number[]) => Promise<void>> {
    const from = (await store.stats()).now
    return async (...instants) => {
      const to = (await store.stats()).now
      for (const instant of instants) {
        assert.ok(from <= instant && instant <= to, `${instant} is not within ${from} and ${to}`)
      }
    }
  }

  async reopen(store: Store): Promise<Store> {
    await store.close()
    return this.open()
  }

  async openAndClose(): Promise<void> {
    await this.open()
    await this.close()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened].map((store) => store.close()))
  }
}

export type StoreTest = (store: Store, bed: TestBed) => Promise<void>
/** Defines one test that gets a fresh store. */
export type DefineTest = (name: string, test: StoreTest) => void
