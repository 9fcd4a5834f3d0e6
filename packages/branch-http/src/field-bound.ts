import type { Socket } from 'node:net'
import { undiciChanged } from './undici-changed.ts'

/** HTTP/2 counts as much for each field beside its bytes (RFC 9113, section 6.5.2). */
const FIELD_BYTES = 32
/** The parser reports the name of a field and its value one after the other. */
const PART_BYTES = FIELD_BYTES / 2
/** It is made once, because a stack takes longer than all else here. */
const GIVEN_UP = new Error('the connection is given up')

/** The part of undici's parser of answers that is used. */
interface Parser {
  /** Hears of each part of a head or a trailer, with its bytes. */
  trackHeader(bytes: number): void
  onBody(bytes: Buffer): number
  onMessageComplete(): number
  /** Parses what has come. */
  execute(chunk: Buffer): void
}

/**
 * Lets each field of an answer's head and trailer count 32 bytes of undici's `maxHeaderSize` beside its own. undici keeps two
 * objects for each field until the head is whole, so 16 KiB of fields of one letter took 3 MB, and it made an error, with its stack,
 * for each field that came behind the bound in the same packet: 37 ms for one answer.
 *
 * It relies on an undocumented part of undici, which was read in 8.12.4: the socket has its parser under a symbol once the
 * connector's callback has returned. Throws a LibraryChangedError if undici no longer works so.
 */
export function boundFields(socket: Socket): void {
  const parser = findParser(socket)
  const { trackHeader } = parser
  parser.trackHeader = function trackField(bytes) {
    // The bound was reached by a field before this one. undici catches what its parser throws, and reads no more of the packet.
    if (socket.destroyed) throw GIVEN_UP
    trackHeader.call(parser, bytes + PART_BYTES)
  }
}

export function findParser(socket: Socket): Parser {
  for (const symbol of Object.getOwnPropertySymbols(socket)) {
    if (symbol.description !== 'parser') continue
    const parser: unknown = (socket as unknown as Record<symbol, unknown>)[symbol]
    if (isParser(parser)) return parser
  }
  throw undiciChanged('the parser of a connection, which does not tell of the parts of an answer')
}

function isParser(value: unknown): value is Parser {
  if (typeof value !== 'object' || value === null) return false
  const methods = ['trackHeader', 'onBody', 'onMessageComplete', 'execute']
  return methods.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function')
}
