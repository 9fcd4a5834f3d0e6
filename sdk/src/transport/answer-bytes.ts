import { CollectedBytes } from '../collected-bytes.ts'

/**
 * The longest answer that a client reads: the largest transaction, with the excerpts of all its calls, has half of
 * it.
 */
export const ANSWER_BYTES_MAX_DEFAULT = 4 * 1024 * 1024
const ANSWER_BYTES_LEAST = 1024
const ANSWER_BYTES_MOST = 256 * 1024 * 1024

/** An answer that was longer than its reader allows. Its connection is ended. */
export class AnswerTooLargeError extends Error {
  readonly status: number

  constructor(status: number, bytesMax: number) {
    super(`the answer is longer than ${bytesMax} bytes`)
    this.name = 'AnswerTooLargeError'
    this.status = status
  }
}

export function checkAnswerBytesMax(bytesMax: number): number {
  if (Number.isSafeInteger(bytesMax) && bytesMax >= ANSWER_BYTES_LEAST && bytesMax <= ANSWER_BYTES_MOST)
    return bytesMax
  throw new TypeError(
    `answerBytesMax must be a whole number from ${ANSWER_BYTES_LEAST} to ${ANSWER_BYTES_MOST}`,
  )
}

/** Collects one answer, up to its bound. */
export class AnswerBytes {
  readonly #status: number
  readonly #bytesMax: number
  readonly #bytes: CollectedBytes

  /** Throws if the answer announces more than it may have. `length` is the value of its content-length, if it has one. */
  constructor(status: number, length: string | null | undefined, bytesMax: number) {
    this.#status = status
    this.#bytesMax = bytesMax
    this.#bytes = new CollectedBytes(bytesMax)
    if (Number(length ?? 0) > bytesMax) throw this.#tooLarge()
  }

  /** Adds a chunk. If the answer gets too long, it drops all bytes and throws. */
  add(chunk: Uint8Array): void {
    if (!this.#bytes.add(chunk)) throw this.#tooLarge()
  }

  text(): string {
    return new TextDecoder().decode(this.#bytes.bytesSoFar())
  }

  #tooLarge(): AnswerTooLargeError {
    return new AnswerTooLargeError(this.#status, this.#bytesMax)
  }
}
