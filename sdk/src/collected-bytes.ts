/**
 * Collects the bytes of one message in one buffer. Chunks are copied and not kept: a peer may send its message in chunks
 * of one byte, and to keep such a chunk takes about 100 bytes of memory.
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
  bytesSoFar(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  /**
   * Doubles the buffer, so that a byte is copied twice on average. The buffer does not get its size from the
   * Content-Length of the message, because a peer can write any number there.
   */
  #grow(lengthNeeded: number): void {
    const grown = new Uint8Array(Math.max(lengthNeeded, Math.min(2 * this.#buffer.length, this.#bytesMax)))
    grown.set(this.bytesSoFar())
    this.#buffer = grown
  }
}
