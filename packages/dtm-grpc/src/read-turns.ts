import { HolderQueue } from '@counterstep/access'

/** One turn of the event loop reads, and does what has been read, for about so long. Then the loop goes on with others. */
const TURN_MS_MAX = 4
/** Reads of strangers rest for so many times as long as they took, so they take a quarter of the time at most. */
const REST_FACTOR = 3

/** A connection that has bytes, and may be asked for some of them. */
export interface Reader {
  /** Holders take turns. This is the network of a connection, or its caller once that is known. */
  readonly holder: string
  /** Its network, or itself, has shown a good key. */
  readonly isKnown: boolean
  /** Reads a bounded number of bytes. */
  readSome(): void
}

/**
 * Reads from connections in turns, and by turns from known ones and from strangers, so that thousands of strangers delay a known
 * one by one of them. One read over HTTP/2 may bring a hundred calls, and each takes the event loop for a tenth of a millisecond
 * before anything can be refused, so others must come between the reads.
 */
export class ReadTurns {
  readonly #known = new HolderQueue<Reader>()
  readonly #strangers = new HolderQueue<Reader>()
  /** The last read was of a stranger. */
  #isStranger = false
  #strangersRestUntil = 0
  #isPlanned = false
  #endsAt = 0
  #readAt = 0
  /** Reads of strangers took so long in this turn. */
  #strangersTookMs = 0
  #restTimer: NodeJS.Timeout | undefined

  add(connection: Reader): void {
    const waiting = connection.isKnown ? this.#known : this.#strangers
    waiting.add(connection)
    this.#plan()
  }

  delete(connection: Reader): void {
    this.#known.delete(connection)
    this.#strangers.delete(connection)
  }

  /** A known connection does not wait for the rest of strangers. */
  #plan(): void {
    if (this.#isPlanned && this.#restTimer === undefined) return
    const restMs = this.#strangersRestUntil - performance.now()
    if (this.#known.size > 0 || restMs <= 0) {
      clearTimeout(this.#restTimer)
      this.#restTimer = undefined
      this.#isPlanned = true
      setImmediate(this.#begin)
    } else if (this.#restTimer === undefined) {
      this.#isPlanned = true
      this.#restTimer = setTimeout(() => {
        this.#restTimer = undefined
        this.#begin()
      }, restMs)
      this.#restTimer.unref()
    }
  }

  readonly #begin = (): void => {
    this.#endsAt = performance.now() + TURN_MS_MAX
    this.#readNext()
  }

  #readNext(): void {
    this.#readAt = performance.now()
    const next = this.#takeNext()
    if (next === undefined) {
      this.#endTurn(this.#readAt)
      return
    }
    next.readSome()
    // Node tells of new calls by ticks, which were planned before this one.
    process.nextTick(this.#goOn)
  }

  /** Strangers have every other read, and each where no known connection waits, unless they rest. */
  #takeNext(): Reader | undefined {
    const mayBeStranger = this.#readAt >= this.#strangersRestUntil && this.#strangers.size > 0
    this.#isStranger = mayBeStranger && (!this.#isStranger || this.#known.size === 0)
    return this.#isStranger ? this.#strangers.shift() : this.#known.shift()
  }

  readonly #goOn = (): void => {
    const now = performance.now()
    if (this.#isStranger) this.#strangersTookMs += now - this.#readAt
    if (now < this.#endsAt) this.#readNext()
    else this.#endTurn(now)
  }

  #endTurn(now: number): void {
    if (this.#strangersTookMs > 0) this.#strangersRestUntil = now + REST_FACTOR * this.#strangersTookMs
    this.#strangersTookMs = 0
    this.#isPlanned = false
    if (this.#known.size > 0 || this.#strangers.size > 0) this.#plan()
  }
}
