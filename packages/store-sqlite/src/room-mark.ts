import type { StoreEvent } from '@counterstep/core'

const LOOK_MS = 1_000
const MEBIBYTE = 1024 * 1024

export interface RoomMarkSettings {
  /** Below this the store is short of room; 0: it never is. */
  readonly freeBytesMin: number
  /** Answers how many bytes the disk has left. */
  readonly freeBytes: () => Promise<number>
  /** Answers how many bytes the file has left inside it. It is asked only while the disk alone has less than the mark. */
  readonly freeBytesInFile: () => Promise<number>
  readonly onEvent: (event: StoreEvent) => void
}

/**
 * Looks once a second at how much room is left. Below the mark no new transaction should be taken, so that those that run can
 * still be saved and finished. Pages that a purge has left inside the file count for up to half of the mark: new rows
 * take them, but the log that each write goes through first needs the disk. It recovers by itself, and says each change once.
 */
export class RoomMark {
  readonly #settings: RoomMarkSettings
  readonly #timer: NodeJS.Timeout | undefined
  #isShort = false
  #isLooking = false
  #isStopped = false

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

  /** Nothing is asked any more: the file is about to be closed. */
  stop(): void {
    this.#isStopped = true
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      this.#learn(await this.#countFreeBytes())
    } catch {
      // A disk or a file that cannot be asked changes nothing; a write that fails says so itself.
    } finally {
      this.#isLooking = false
    }
  }

  async #countFreeBytes(): Promise<number> {
    const { freeBytes, freeBytesInFile, freeBytesMin } = this.#settings
    const onDisk = await freeBytes()
    if (onDisk >= freeBytesMin || this.#isStopped) return onDisk
    return onDisk + Math.min(await freeBytesInFile(), freeBytesMin / 2)
  }

  #learn(freeBytes: number): void {
    if (this.#isStopped) return
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
