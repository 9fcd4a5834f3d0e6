import { Readable } from 'node:stream'

/** More than this waits for no slow reader, beside the one frame that went over it. */
const WAITING_BYTES_MAX = 16 * 1024

/**
 * An answer of `text/event-stream`. A frame that its reader has no room for is dropped, so that a slow reader costs no
 * more memory than one frame.
 */
export class EventStream extends Readable {
  readonly #onRoom: () => void
  readonly #nowMs: () => number
  /** Since when the reader has taken nothing. */
  #fullSince: number | undefined
  #hasDropped = false
  #endedAt: number | undefined

  /** `onRoom` is called when there is room again after frames were dropped. */
  constructor(onRoom: () => void, nowMs = () => performance.now()) {
    super({ highWaterMark: WAITING_BYTES_MAX })
    this.#onRoom = onRoom
    this.#nowMs = nowMs
  }

  /** Sends an event. The data must be in one line, as JSON is. */
  send(event: string, data: string): void {
    this.#write(`event: ${event}\ndata: ${data}\n\n`)
  }

  /** Sends a line that readers pass over, so that the connection is not idle. */
  comment(): void {
    this.#write(':\n\n')
  }

  end(): void {
    if (this.destroyed || this.#endedAt !== undefined) return
    this.#endedAt = this.#nowMs()
    this.push(null)
  }

  /** How long the reader has taken nothing, although something or the end waits for it. */
  get fullMs(): number {
    const since = Math.min(
      this.#fullSince ?? Number.POSITIVE_INFINITY,
      this.#endedAt ?? Number.POSITIVE_INFINITY,
    )
    return Math.max(0, this.#nowMs() - since)
  }

  override _read(): void {
    this.#fullSince = undefined
    if (!this.#hasDropped) return
    this.#hasDropped = false
    this.#onRoom()
  }

  #write(frame: string): void {
    if (this.destroyed || this.#endedAt !== undefined) return
    if (this.#fullSince !== undefined) this.#hasDropped = true
    else if (!this.push(frame)) this.#fullSince = this.#nowMs()
  }
}
