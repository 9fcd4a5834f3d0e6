import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { Store } from '@counterstep/core'
import type { Model } from './model.ts'

const POLL_MS = 5

/**
 * The time of a random run. If the store takes the model's clock, each call happens at one time. If the store has its own
 * clock, a call lies between the times that the store shows before and after it, and the model takes the times that it sets.
 */
export class ModelClock {
  readonly isExact: boolean
  readonly #model: Model
  readonly #store: () => Store
  #from = 0
  #to = 0

  private constructor(model: Model, store: () => Store, isExact: boolean) {
    this.#model = model
    this.#store = store
    this.isExact = isExact
  }

  static async start(model: Model, store: () => Store): Promise<ModelClock> {
    const { now } = await store().stats()
    return new ModelClock(model, store, now === model.now)
  }

  /** The earliest time of the last call. */
  get from(): number {
    return this.#from
  }

  get to(): number {
    return this.#to
  }

  async read(): Promise<number> {
    return this.isExact ? this.#model.now : (await this.#store().stats()).now
  }

  async during<T>(call: () => Promise<T>): Promise<T> {
    this.#from = await this.read()
    this.#model.now = this.#from
    const result = await call()
    this.#to = await this.read()
    return result
  }

  /** Sets the model's clock to the time that the store has set in the last call. */
  take(instant: number): void {
    assert.ok(this.#from <= instant && instant <= this.#to, `${instant} not in ${this.#from}–${this.#to}`)
    this.#model.now = instant
  }

  async pass(ms: number): Promise<void> {
    const until = (await this.read()) + ms
    if (this.isExact) this.#model.now = until
    else while ((await this.read()) < until) await delay(POLL_MS)
  }
}
