const CAPACITY_MIN = 4_096

/** The content of a file, as long as its last write or truncation made it. */
export class FileBytes {
  #bytes: Buffer
  #length: number

  constructor(content: Buffer = Buffer.alloc(0)) {
    this.#bytes = Buffer.from(content)
    this.#length = content.length
  }

  write(offset: number, data: Buffer): void {
    this.#reserve(offset + data.length)
    data.copy(this.#bytes, offset)
    this.#length = Math.max(this.#length, offset + data.length)
  }

  truncate(length: number): void {
    this.#reserve(length)
    if (length < this.#length) this.#bytes.fill(0, length, this.#length)
    this.#length = length
  }

  get length(): number {
    return this.#length
  }

  content(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length))
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return
    const bytes = Buffer.alloc(Math.max(CAPACITY_MIN, 2 * length))
    this.#bytes.copy(bytes, 0, 0, this.#length)
    this.#bytes = bytes
  }
}
