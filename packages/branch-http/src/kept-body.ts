const EMPTY: Buffer = Buffer.alloc(0)

/** Bytes of a body, copied from where they were read. However small the pieces, it takes at most twice their room. */
export class KeptBody {
  #room = EMPTY
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Only until more is added. */
  get bytes(): Buffer {
    return this.#room.subarray(0, this.#length)
  }

  add(bytes: Buffer): void {
    const length = this.#length + bytes.length
    if (length > this.#room.length) {
      const room = Buffer.allocUnsafe(Math.max(length, 2 * this.#room.length))
      room.set(this.bytes)
      this.#room = room
    }
    this.#room.set(bytes, this.#length)
    this.#length = length
  }
}
