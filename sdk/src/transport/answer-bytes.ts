/** The longest answer that a client reads: the largest transaction, with the excerpts of all its calls, has half of it. */
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

export function checkedAnswerBytesMax(bytesMax: number): number {
  if (Number.isSafeInteger(bytesMax) && bytesMax >= ANSWER_BYTES_LEAST && bytesMax <= ANSWER_BYTES_MOST)
    return bytesMax
  throw new TypeError(
    `answerBytesMax must be a whole number from ${ANSWER_BYTES_LEAST} to ${ANSWER_BYTES_MOST}`,
  )
}

/** Collects the chunks of one answer, and keeps none of the chunk that goes over the bound. */
export class AnswerBytes {
  readonly #status: number
  readonly #bytesMax: number
  readonly #chunks: Uint8Array[] = []
  #bytes = 0

  /** Throws if the answer announces more than it may have. `length` is the value of its content-length, if it has one. */
  constructor(status: number, length: string | null | undefined, bytesMax: number) {
    this.#status = status
    this.#bytesMax = bytesMax
    this.#assertWithin(Number(length ?? 0))
  }

  /** Throws, and lets go of all that it has, when the answer gets too long. */
  add(chunk: Uint8Array): void {
    this.#assertWithin(this.#bytes + chunk.length)
    this.#bytes += chunk.length
    this.#chunks.push(chunk)
  }

  text(): string {
    const [first] = this.#chunks
    if (first !== undefined && this.#chunks.length === 1) return new TextDecoder().decode(first)
    const whole = new Uint8Array(this.#bytes)
    let offset = 0
    for (const chunk of this.#chunks) {
      whole.set(chunk, offset)
      offset += chunk.length
    }
    return new TextDecoder().decode(whole)
  }

  #assertWithin(bytes: number): void {
    if (!(bytes > this.#bytesMax)) return
    this.#chunks.length = 0
    throw new AnswerTooLargeError(this.#status, this.#bytesMax)
  }
}
