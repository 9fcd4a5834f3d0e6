/** A read costs some 300 bytes however little it brought. */
const PIECES_MAX = 32
const CR = 13
const LF = 10

/** What a connection has brought and nobody has used, as it came: joined where somebody looks, or in too many pieces. */
export class UnreadBytes {
  length = 0
  #pieces: Buffer[] = []

  add(piece: Buffer): void {
    this.#pieces.push(piece)
    this.length += piece.length
    if (this.#pieces.length > PIECES_MAX) this.joined()
  }

  /** Whether it is nothing, or the line ends that some clients send behind a request (RFC 9112, 2.2). */
  get isBlank(): boolean {
    return this.#pieces.every((piece) => piece.every((byte) => byte === CR || byte === LF))
  }

  /** All of it, which stays. */
  joined(): Buffer {
    const [first] = this.#pieces
    if (first !== undefined && this.#pieces.length === 1) return first
    const joined = Buffer.concat(this.#pieces, this.length)
    this.#pieces = [joined]
    return joined
  }

  /** The first `length` of it, which are used. There must be as many. */
  take(length: number): Buffer {
    const bytes = this.joined()
    this.#pieces = bytes.length > length ? [bytes.subarray(length)] : []
    this.length -= length
    return bytes.subarray(0, length)
  }
}
