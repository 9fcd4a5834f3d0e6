import { HolderQueue } from '@counterstep/access'

/** One turn of the event loop reads, and does what has been read, for about so long. Then the loop goes on with others. */
const TURN_MS_MAX = 4

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
 * Reads from connections in turns, and by turns from known ones and from others, so that thousands of strangers delay a known one by one of them. One read over HTTP/2 may bring a hundred calls, and each takes the event loop for a tenth of a
 * millisecond before anything can be refused, so others must come between the reads.
 */
export class ReadTurns {
  readonly #known = new HolderQueue<Reader>()
  readonly #others = new HolderQueue<Reader>()
  #isTurnOfOthers = false
  #isPlanned = false
  #endsAt = 0

  add(connection: Reader): void {
    const waiting = connection.isKnown ? this.#known : this.#others
    waiting.add(connection)
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(this.#begin)
  }

  delete(connection: Reader): void {
    this.#known.delete(connection)
    this.#others.delete(connection)
  }

  readonly #begin = (): void => {
    this.#endsAt = performance.now() + TURN_MS_MAX
    this.#readNext()
  }

  #readNext(): void {
    this.#isTurnOfOthers = !this.#isTurnOfOthers
    const [first, second] = this.#isTurnOfOthers ? [this.#others, this.#known] : [this.#known, this.#others]
    const next = first.shift() ?? second.shift()
    if (next === undefined) {
      this.#isPlanned = false
      return
    }
    next.readSome()
    // Node tells of new calls by ticks, which were planned before this one.
    process.nextTick(this.#goOn)
  }

  readonly #goOn = (): void => {
    if (performance.now() < this.#endsAt) this.#readNext()
    else setImmediate(this.#begin)
  }
}
