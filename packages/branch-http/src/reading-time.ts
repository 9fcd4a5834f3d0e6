import type { Socket } from 'node:net'
import { readThreadMs } from './thread-time.ts'
import { undiciChanged } from './undici-changed.ts'

/** The answers of all listed origins together may take half of the event loop's time, more than honest ones do at full load. */
export const LISTED_SHARE = 0.5
/** The answers of all other origins may take so much of it together. */
export const UNLISTED_SHARE = 0.25

/** So much time is saved up while little is read, and as much may be taken in advance. */
const SAVED_MS_MAX = 20
/** The time that an origin has used counts half after this one. */
const HALF_LIFE_MS = 1_000

/**
 * Bounds the share of the event loop that it takes to read the answers on some connections. It measures the time and does not count
 * bytes or pieces, so it holds for whatever a service finds that is slow to parse. While there is no time left, reads wait: the
 * origin that has used the least goes first, so services that answer slowly to read keep others waiting for few reads.
 */
export class ReadingTime {
  readonly #share: number
  #leftMs = SAVED_MS_MAX
  #countedAt = performance.now()
  /** Reads that came one after the other tell of what they have read in ticks that come one after the other, too. */
  #takenUntil = 0
  readonly #waiting = new Set<OriginReads>()
  #isWaking = false
  #isReading = false
  /** The ticks of the last read have not run yet. */
  #isInTicks = false

  /** The share is a part of one, as 0.5. */
  constructor(share: number) {
    this.#share = share
  }

  /** Returns the reads of one more origin that shares this time. */
  openOrigin(): OriginReads {
    const origin: OriginReads = new OriginReads(
      () => {
        this.#waiting.add(origin)
        this.#goOn()
      },
      {
        hold: () => {
          this.#isInTicks = true
        },
        count: (since) => this.#takeTicks(since),
        end: (tookMs) => this.#endTicks(tookMs),
      },
    )
    return origin
  }

  #goOn(): void {
    if (this.#isWaking || this.#isReading || this.#isInTicks) return
    this.#isReading = true
    try {
      this.#readWaiting()
    } finally {
      this.#isReading = false
    }
  }

  #readWaiting(): void {
    for (let origin = this.#findNext(); origin !== undefined; origin = this.#findNext()) {
      const now = performance.now()
      this.#leftMs = Math.min(SAVED_MS_MAX, this.#leftMs + (now - this.#countedAt) * this.#share)
      this.#countedAt = now
      if (this.#leftMs <= 0) {
        this.#wakeLater()
        return
      }
      const tookMs = origin.readOne(now)
      this.#take(tookMs)
      this.#takenUntil = performance.now()
      if (this.#isInTicks) return
      if (tookMs > SAVED_MS_MAX) {
        this.#wakeLater()
        return
      }
    }
  }

  /** Nothing more is read in this turn of the event loop after a read that took long. It may have earned its time meanwhile. */
  #endTicks(tookMs: number): void {
    this.#isInTicks = false
    if (tookMs > SAVED_MS_MAX) this.#wakeLater()
    else this.#goOn()
  }

  /** Takes the time since that instant, but for what was taken since. Returns it. */
  #takeTicks(since: number): number {
    const now = performance.now()
    const tookMs = now - Math.max(since, this.#takenUntil)
    this.#takenUntil = now
    this.#take(tookMs)
    return tookMs
  }

  /** The pause of a garbage collection counts as well. It must not keep a service waiting for long. */
  #take(tookMs: number): void {
    this.#leftMs = Math.max(-SAVED_MS_MAX, this.#leftMs - tookMs)
  }

  /** Finds the origin that has used the least of those that have something to read. */
  #findNext(): OriginReads | undefined {
    const now = performance.now()
    let next: OriginReads | undefined
    let leastMs = Number.POSITIVE_INFINITY
    for (const origin of this.#waiting) {
      if (!origin.isWaiting) {
        this.#waiting.delete(origin)
        continue
      }
      const usedMs = origin.countUsedMs(now)
      if (usedMs >= leastMs) continue
      next = origin
      leastMs = usedMs
    }
    return next
  }

  /** Lets at least one turn of the event loop pass. */
  #wakeLater(): void {
    this.#isWaking = true
    setTimeout(
      () => {
        this.#isWaking = false
        this.#goOn()
      },
      Math.ceil((1 - this.#leftMs) / this.#share),
    )
  }
}

/** Counts the ticks of a read before anything more is read. */
export interface Ticks {
  hold(): void
  /** Returns how long the ticks since that instant took, in milliseconds. */
  count(since: number): number
  /** The read and its ticks took so long. */
  end(tookMs: number): void
}

/** The connections of one origin that have something to read, and the time that its answers have used. */
export class OriginReads {
  readonly #onWaiting: () => void
  readonly #ticks: Ticks
  /** Each connection is in it once, however often it was told that there is more to read. */
  readonly #reads = new Map<object, () => void>()
  #usedMs = 0
  #usedAt = performance.now()

  constructor(onWaiting: () => void, ticks: Ticks) {
    this.#onWaiting = onWaiting
    this.#ticks = ticks
  }

  get isWaiting(): boolean {
    return this.#reads.size > 0
  }

  /** Reads from the connection now, or once there is time for it. */
  run(connection: object, read: () => void): void {
    if (this.#reads.has(connection)) return
    this.#reads.set(connection, read)
    this.#onWaiting()
  }

  /**
   * Does the same for a library that tells of what it has read by ticks. The time of these counts, too, before anything more is read.
   * `onTook` is told how long this thread has computed for the read and its ticks.
   */
  runInTicks(connection: object, read: () => void, onTook?: (tookMs: number) => void): void {
    this.run(connection, () => {
      const beganAt = performance.now()
      const threadMs = onTook === undefined ? 0 : readThreadMs()
      this.#ticks.hold()
      try {
        read()
      } finally {
        const readAt = performance.now()
        process.nextTick(() => {
          const tickMs = this.#ticks.count(readAt)
          this.#usedMs += tickMs
          onTook?.(readThreadMs() - threadMs)
          this.#ticks.end(readAt - beganAt + tickMs)
        })
      }
    })
  }

  /** The connection has closed. */
  forget(connection: object): void {
    this.#reads.delete(connection)
  }

  countUsedMs(now: number): number {
    return this.#usedMs * 0.5 ** ((now - this.#usedAt) / HALF_LIFE_MS)
  }

  /** Reads from the connection that waits longest, and returns how long that took, in milliseconds. */
  readOne(now: number): number {
    const [[connection, read] = []] = this.#reads
    if (connection === undefined || read === undefined) return 0
    this.#reads.delete(connection)
    read()
    const endedAt = performance.now()
    this.#usedMs = this.countUsedMs(now) + (endedAt - now)
    this.#usedAt = now
    return endedAt - now
  }
}

/**
 * Lets the socket be read when there is time for it. It relies on an undocumented part of undici, which was read in 8.12.4: the socket
 * has one listener that reads it, once the connector's callback has returned. Throws a LibraryChangedError if undici no longer works
 * so.
 */
export function boundReading(socket: Socket, reads: OriginReads): void {
  const [read, ...more] = socket.listeners('readable')
  if (read === undefined || more.length > 0)
    throw undiciChanged('the connection, which is not read by one listener')
  socket.on('readable', () => reads.run(socket, () => read.call(socket)))
  socket.once('close', () => reads.forget(socket))
  socket.removeListener('readable', read as () => void)
}
