import { type Clock, PURGE_MAX, type Store, StoreUnavailableError } from '@counterstep/core'
import type { EngineObserver } from './observer.ts'

const PURGE_EVERY_MS = 30_000

/** Removes finished transactions whose retention is over, in chunks. */
export class Purge {
  readonly #store: Store
  readonly #clock: Clock
  readonly #observer: EngineObserver
  #cancel: () => void = () => undefined
  #stopped = false

  constructor(store: Store, clock: Clock, observer: EngineObserver) {
    this.#store = store
    this.#clock = clock
    this.#observer = observer
  }

  start(): void {
    if (!this.#stopped) this.#cancel = this.#clock.after(PURGE_EVERY_MS, () => void this.#purgeAll())
  }

  stop(): void {
    this.#stopped = true
    this.#cancel()
  }

  async #purgeAll(): Promise<void> {
    try {
      for (let purged = PURGE_MAX; purged === PURGE_MAX && !this.#stopped; ) {
        purged = (await this.#store.purgeFinished(PURGE_MAX)).purged
      }
    } catch (error: unknown) {
      const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
      this.#observer.event({ level, name: 'purge-failed', error })
    }
    this.start()
  }
}
