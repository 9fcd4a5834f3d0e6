const EMPTY: Buffer = Buffer.alloc(0)
const ONGOING = 'ONGOING'
const FAILURE = 'FAILURE'
/** The end of one piece can hold at most this many bytes of a word that continues in the next piece. */
const TAIL_BYTES = ONGOING.length - 1
/** Pieces under this size are searched together, since a search of one byte costs as much as one of a thousand. */
const SMALL_BYTES_MAX = 256
const ROOM_BYTES = 1_024

/** Looks for the words of DTM's services anywhere in a body that comes in pieces, and keeps none of its bytes for long. */
export class WordSearch {
  #hasOngoing = false
  #hasFailure = false
  #tail = EMPTY
  /** It has small pieces that were not searched yet. */
  #room = EMPTY
  #roomTaken = 0

  get hasOngoing(): boolean {
    this.#searchRoom()
    return this.#hasOngoing
  }

  get hasFailure(): boolean {
    this.#searchRoom()
    return this.#hasFailure
  }

  add(piece: Buffer): void {
    if (piece.length >= SMALL_BYTES_MAX) {
      this.#searchRoom()
      this.#searchPiece(piece)
      return
    }
    if (this.#room.length === 0) this.#room = Buffer.allocUnsafe(ROOM_BYTES)
    if (this.#roomTaken + piece.length > ROOM_BYTES) this.#searchRoom()
    this.#room.set(piece, this.#roomTaken)
    this.#roomTaken += piece.length
  }

  #searchRoom(): void {
    if (this.#roomTaken === 0) return
    const pieces = this.#room.subarray(0, this.#roomTaken)
    this.#roomTaken = 0
    this.#searchPiece(pieces)
  }

  #searchPiece(piece: Buffer): void {
    this.#search(piece)
    if (this.#tail.length > 0) this.#search(Buffer.concat([this.#tail, piece.subarray(0, TAIL_BYTES)]))
    const end = piece.length < TAIL_BYTES ? Buffer.concat([this.#tail, piece]) : piece
    // The tail is a copy, because the bytes are undici's.
    this.#tail = Buffer.from(end.subarray(-TAIL_BYTES))
  }

  #search(bytes: Buffer): void {
    this.#hasOngoing ||= bytes.includes(ONGOING)
    this.#hasFailure ||= bytes.includes(FAILURE)
  }
}
