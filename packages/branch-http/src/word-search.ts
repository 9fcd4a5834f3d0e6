const EMPTY: Buffer = Buffer.alloc(0)
const ONGOING = 'ONGOING'
const FAILURE = 'FAILURE'
/** The end of one piece can hold at most this many bytes of a word that continues in the next piece. */
const TAIL_BYTES = ONGOING.length - 1

/** Looks for the words of DTM's services anywhere in a body that comes in pieces, and keeps no piece. */
export class WordSearch {
  hasOngoing = false
  hasFailure = false
  #tail = EMPTY

  add(piece: Buffer): void {
    this.#search(piece)
    if (this.#tail.length > 0) this.#search(Buffer.concat([this.#tail, piece.subarray(0, TAIL_BYTES)]))
    const end = piece.length < TAIL_BYTES ? Buffer.concat([this.#tail, piece]) : piece
    // The tail is a copy, because the bytes are undici's.
    this.#tail = Buffer.from(end.subarray(-TAIL_BYTES))
  }

  #search(bytes: Buffer): void {
    this.hasOngoing ||= bytes.includes(ONGOING)
    this.hasFailure ||= bytes.includes(FAILURE)
  }
}
