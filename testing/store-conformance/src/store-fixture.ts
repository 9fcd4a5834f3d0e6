import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { Store } from '@counterstep/core'
import type { ConformanceOptions } from './runner.ts'

const START_AT = 1_600_000_000_000
const POLL_MS = 5

/** The stores of one test, all at one place, and their time. */
export class StoreFixture {
  readonly place: string
  readonly #open: ConformanceOptions['open']
  readonly #opened = new Set<Store>()
  #now = START_AT
  #hasExactClock = false

  constructor(open: ConformanceOptions['open'], place: string) {
    this.#open = open
    this.place = place
  }

  /** Opens a store at this test's place. A second call opens the same database. */
  async open(): Promise<Store> {
    const store = await this.#open({ now: () => this.#now, place: this.place })
    this.#opened.add(store)
    // The store's own answer, and no flag, tells whether it uses the suite's clock.
    this.#hasExactClock = (await store.stats()).now === this.#now
    return store
  }

  /** The store uses the suite's clock, so that a time can be met exactly. */
  get hasExactClock(): boolean {
    return this.#hasExactClock
  }

  /** It is long enough to act within, and short enough to wait for in real time. */
  get leaseMs(): number {
    return this.#hasExactClock ? 10_000 : 1_000
  }

  /** It is long enough to read a row that has just finished, and short enough to wait for its end. */
  get retentionMs(): number {
    return this.#hasExactClock ? 60_000 : 1_000
  }

  /** Returns when the store's clock shows at least `ms` more, or exactly `ms` more if it is the suite's clock. */
  async pass(store: Store, ms: number): Promise<void> {
    if (this.#hasExactClock) {
      this.#now += ms
      return
    }
    const until = (await store.stats()).now + ms
    while ((await store.stats()).now < until) await delay(POLL_MS)
  }

  /**
   * Starts a span of the store's time, and returns a check that ends it. The check gets times that the store has set
   * meanwhile, which must lie in the span. With the suite's clock they must equal it.
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

export type StoreTest = (store: Store, fixture: StoreFixture) => Promise<void>
/** Defines one test that gets a fresh store. */
export type DefineTest = (name: string, test: StoreTest) => void
