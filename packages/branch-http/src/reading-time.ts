import type { Socket } from 'node:net'
import { undiciChanged } from './undici-changed.ts'

/** The answers of one listed origin may take half of the event loop's time, far more than honest ones do at full load. */
export const LISTED_SHARE = 0.5
/** The answers of all other origins may take so much of it together. */
export const UNLISTED_SHARE = 0.25

/** So much time is saved up while little is read, and as much may be taken in advance. */
const SAVED_MS_MAX = 20

/**
 * Bounds the share of the event loop that it takes to read the answers on some connections. It measures the time and does not count
 * bytes or pieces, so it holds for whatever a service finds that is slow to parse. Reads that find no time left wait in their order.
 */
export class ReadingTime {
  readonly #share: number
  #leftMs = SAVED_MS_MAX
  #countedAt = performance.now()
  #waiting: (() => void)[] = []

  /** The share is a part of one, as 0.5. */
  constructor(share: number) {
    this.#share = share
  }

  /** Runs the read now, or once there is time for it. */
  run(read: () => void): void {
    if (this.#waiting.length > 0) {
      this.#waiting.push(read)
      return
    }
    const now = performance.now()
    this.#leftMs = Math.min(SAVED_MS_MAX, this.#leftMs + (now - this.#countedAt) * this.#share)
    this.#countedAt = now
    if (this.#leftMs > 0) {
      this.#measure(read, now)
      return
    }
    this.#waiting.push(read)
    this.#goOnLater()
  }

  #measure(read: () => void, startedAt: number): void {
    read()
    // The pause of a garbage collection counts as well. It must not keep a service waiting for long.
    this.#leftMs = Math.max(-SAVED_MS_MAX, this.#leftMs - (performance.now() - startedAt))
  }

  #goOnLater(): void {
    setTimeout(() => this.#goOn(), Math.ceil((1 - this.#leftMs) / this.#share))
  }

  #goOn(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const read of waiting) this.run(read)
  }
}

/**
 * Lets the socket be read when there is time for it. It relies on an undocumented part of undici, which was read in 8.12.4: the socket
 * has one listener that reads it, once the connector's callback has returned. Throws a LibraryChangedError if undici no longer works
 * so.
 */
export function boundReading(socket: Socket, time: ReadingTime): void {
  const [read, ...more] = socket.listeners('readable')
  if (read === undefined || more.length > 0)
    throw undiciChanged('the connection, which is not read by one listener')
  socket.on('readable', () => time.run(() => read.call(socket)))
  socket.removeListener('readable', read as () => void)
}
