import type { StoreEvent } from '@counterstep/core'

const LOOK_MS = 1_000
const MEBIBYTE = 1024 * 1024

export interface RoomMarkSettings {
  /** Below this the store is short of room; 0: it never is. */
  readonly freeBytesMin: number
  readonly freeBytes: () => Promise<number>
  readonly onEvent: (event: StoreEvent) => void
}

/**
 * Looks once a second at how much room the disk has left. Below the mark no new transaction should be taken, so that those
 * that run can still be saved and finished. It recovers by itself, and says each change once.
 */
export class RoomMark {
  readonly #settings: RoomMarkSettings
  readonly #timer: NodeJS.Timeout | undefined
  #isShort = false
  #isLooking = false

  private constructor(settings: RoomMarkSettings) {
    this.#settings = settings
    if (settings.freeBytesMin > 0) this.#timer = setInterval(() => void this.#look(), LOOK_MS).unref()
  }

  /** It has looked once when this resolves. */
  static async start(settings: RoomMarkSettings): Promise<RoomMark> {
    const mark = new RoomMark(settings)
    if (settings.freeBytesMin > 0) await mark.#look()
    return mark
  }

  get isShort(): boolean {
    return this.#isShort
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      this.#learn(await this.#settings.freeBytes())
    } catch {
      // A disk that cannot be asked changes nothing; a write that fails says so itself.
    } finally {
      this.#isLooking = false
    }
  }

  #learn(freeBytes: number): void {
    const { freeBytesMin, onEvent } = this.#settings
    const isShort = freeBytes < freeBytesMin
    if (isShort === this.#isShort) return
    this.#isShort = isShort
    const detail = `${mebibytes(freeBytes)} free, the mark is ${mebibytes(freeBytesMin)}`
    if (isShort) {
      onEvent({
        level: 'error',
        name: 'store-short-of-room',
        detail: `${detail}: new transactions are refused`,
      })
    } else
      onEvent({
        level: 'info',
        name: 'store-has-room',
        detail: `${detail}: new transactions are taken again`,
      })
  }
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / MEBIBYTE)} MiB`
}
