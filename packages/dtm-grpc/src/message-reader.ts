import { CallError } from './call-error.ts'
import { buildStatus, CODES } from './to-status.ts'

/** A message comes behind one byte, which says whether it is packed, and its length in four. */
export const PREFIX_BYTES = 5

export interface CarriedMessage {
  readonly isPacked: boolean
  readonly bytes: Buffer
}

const TOO_LONG = buildStatus(CODES.RESOURCE_EXHAUSTED, 'the message is too long')
const NO_PREFIX = buildStatus(CODES.INTERNAL, 'bytes that are no message')

/**
 * Takes the messages out of the bytes of a call. It holds those of one message alone, in one piece, since a client may send them one by one.
 * Source: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export class MessageReader {
  readonly #bytesMax: number
  readonly #prefix = Buffer.alloc(PREFIX_BYTES)
  #prefixLength = 0
  #message: Buffer = Buffer.alloc(0)
  #messageLength = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** A message has begun and is not whole. */
  get isWithinMessage(): boolean {
    return this.#prefixLength > 0
  }

  /** Yields the messages that are whole with these bytes. Throws a CallError at one that is too long. */
  *read(chunk: Buffer): Generator<CarriedMessage> {
    let rest = chunk
    while (rest.length > 0) {
      if (this.#prefixLength < PREFIX_BYTES) {
        const copied = rest.copy(this.#prefix, this.#prefixLength)
        rest = rest.subarray(copied)
        this.#prefixLength += copied
        if (this.#prefixLength < PREFIX_BYTES) return
        this.#begin()
      }
      const copied = rest.copy(this.#message, this.#messageLength)
      rest = rest.subarray(copied)
      this.#messageLength += copied
      if (this.#messageLength < this.#message.length) return
      this.#prefixLength = 0
      yield { isPacked: this.#prefix.readUInt8(0) === 1, bytes: this.#message }
    }
  }

  #begin(): void {
    if (this.#prefix.readUInt8(0) > 1) throw new CallError(NO_PREFIX)
    const length = this.#prefix.readUInt32BE(1)
    if (length > this.#bytesMax) throw new CallError(TOO_LONG)
    this.#message = Buffer.allocUnsafe(length)
    this.#messageLength = 0
  }
}
