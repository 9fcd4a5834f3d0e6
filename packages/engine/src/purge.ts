import { type Clock, type Store, StoreUnavailableError } from '@counterstep/core'
import type { EngineObserver } from './observer.ts'

const PURGE_EVERY_MS = 30_000
/** Rows may have 1 MB each, and one write of SQLite deletes so many while all other writes wait. */
const ROWS_MAX = 128
/** A purge that fails is tried again with so many times fewer rows, and the next one with as many more. */
const FEWER = 4

/**
 * Removes finished transactions whose retention is over, in chunks. A store has a time limit for a statement, within which it may
 * delete a hundred small rows and not as many of 1 MB.
 */
export class Purge {
  readonly #store: Store
  readonly #clock: Clock
  readonly #observer: EngineObserver
  #cancel: () => void = () => undefined
  #stopped = false
  #limit = ROWS_MAX

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
    let limit = this.#limit
    let isDone = false
    while (!isDone && !this.#stopped) {
      try {
        isDone = (await this.#store.purgeFinished(limit)).purged < limit
      } catch (error: unknown) {
        const isUnavailable = error instanceof StoreUnavailableError
        if (isUnavailable && limit > 1) {
          limit = Math.ceil(limit / FEWER)
          continue
        }
        this.#observer.event({ level: isUnavailable ? 'warn' : 'error', name: 'purge-failed', error })
        isDone = true
      }
    }
    this.#limit = Math.min(limit * FEWER, ROWS_MAX)
    this.start()
  }
}
