const EMPTY: Buffer = Buffer.alloc(0)

/** Keeps a copy of the bytes of a body. It takes at most twice their room, however small the pieces are. */
export class KeptBody {
  #room = EMPTY
  #length = 0

  get length(): number {
    return this.#length
  }

  /** These bytes are valid only until more are added. */
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
