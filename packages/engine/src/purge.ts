import { type Clock, type Store, StoreUnavailableError } from '@counterstep/core'
import type { EngineObserver } from './observer.ts'
import { PURGE_ROWS_MAX, RowLimit } from './row-limit.ts'

const PURGE_EVERY_MS = 30_000

/** Removes finished transactions whose retention is over, in chunks. */
export class Purge {
  readonly #store: Store
  readonly #clock: Clock
  readonly #observer: EngineObserver
  readonly #limit = new RowLimit(PURGE_ROWS_MAX)
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
      let isDone = false
      while (!isDone && !this.#stopped) {
        const { rows, answer } = await this.#limit.ask(
          (limit) => this.#store.purgeFinished(limit),
          () => !this.#stopped,
        )
        isDone = answer.purged < rows
      }
    } catch (error: unknown) {
      const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
      this.#observer.event({ level, name: 'purge-failed', error })
    }
    this.#limit.raise()
    this.start()
  }
}
