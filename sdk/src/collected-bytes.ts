/**
 * These are the bytes of one message, in one buffer. Chunks are copied and not kept: a peer may send its message in
 * chunks of one byte, and a chunk that is kept costs a hundred times that.
 */
export class CollectedBytes {
  readonly #bytesMax: number
  #buffer = new Uint8Array()
  #length = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Adds a chunk. Returns false and drops all bytes where the message gets longer than it may. */
  add(chunk: Uint8Array): boolean {
    const length = this.#length + chunk.length
    if (length > this.#bytesMax) {
      this.#buffer = new Uint8Array()
      this.#length = 0
      return false
    }
    if (length > this.#buffer.length) this.#grow(length)
    this.#buffer.set(chunk, this.#length)
    this.#length = length
    return true
  }

  /** Returns the bytes that have come so far. */
  whole(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  /**
   * Doubles the buffer, so that a byte is copied twice on average. The length that the peer announces is not trusted.
   */
  #grow(lengthNeeded: number): void {
    const grown = new Uint8Array(Math.max(lengthNeeded, Math.min(2 * this.#buffer.length, this.#bytesMax)))
    grown.set(this.whole())
    this.#buffer = grown
  }
}
