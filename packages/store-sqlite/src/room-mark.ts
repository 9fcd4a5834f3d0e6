import type { StoreEvent } from '@counterstep/core'

const CHECK_MS = 1_000
const MEBIBYTE = 1024 * 1024

export interface RoomMarkSettings {
  /** The store is short of room when the disk has fewer free bytes than this. If it is 0, the store never is. */
  readonly freeBytesMin: number
  /** Reads how many bytes the disk has left. */
  readonly freeBytes: () => Promise<number>
  /** Reads how many bytes are free inside the file. It is called only while the disk alone has less than the mark. */
  readonly freeBytesInFile: () => Promise<number>
  readonly onEvent: (event: StoreEvent) => void
}

/**
 * Reads once a second how much room is left. Below the mark no new transaction should be taken, so that running ones can
 * still be saved and finished. Pages that a purge has left inside the file count for up to half of the mark: new rows use
 * them, but each write first needs room on the disk for the log. It recovers by itself, and reports each change once.
 */
export class RoomMark {
  readonly #settings: RoomMarkSettings
  readonly #timer: NodeJS.Timeout | undefined
  #isShort = false
  #isChecking = false
  #isStopped = false

  private constructor(settings: RoomMarkSettings) {
    this.#settings = settings
    if (settings.freeBytesMin > 0) this.#timer = setInterval(() => void this.#check(), CHECK_MS).unref()
  }

  /** Resolves after the first reading. */
  static async start(settings: RoomMarkSettings): Promise<RoomMark> {
    const mark = new RoomMark(settings)
    if (settings.freeBytesMin > 0) await mark.#check()
    return mark
  }

  get isShort(): boolean {
    return this.#isShort
  }

  /** Stops reading, because the file is about to be closed. */
  stop(): void {
    this.#isStopped = true
    clearInterval(this.#timer)
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    try {
      this.#applyFreeBytes(await this.#countFreeBytes())
    } catch {
      // A failed reading changes nothing, since a write that fails reports that itself.
    } finally {
      this.#isChecking = false
    }
  }

  async #countFreeBytes(): Promise<number> {
    const { freeBytes, freeBytesInFile, freeBytesMin } = this.#settings
    const onDisk = await freeBytes()
    if (onDisk >= freeBytesMin || this.#isStopped) return onDisk
    return onDisk + Math.min(await freeBytesInFile(), freeBytesMin / 2)
  }

  #applyFreeBytes(freeBytes: number): void {
    if (this.#isStopped) return
    const { freeBytesMin, onEvent } = this.#settings
    const isShort = freeBytes < freeBytesMin
    if (isShort === this.#isShort) return
    this.#isShort = isShort
    const detail = `${toMebibytes(freeBytes)} free, the mark is ${toMebibytes(freeBytesMin)}`
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

function toMebibytes(bytes: number): string {
  return `${Math.floor(bytes / MEBIBYTE)} MiB`
}
