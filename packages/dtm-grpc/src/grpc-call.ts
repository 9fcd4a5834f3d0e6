import { once } from 'node:events'
import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { CallError } from './call-error.ts'
import { MessageReader, PREFIX_BYTES } from './message-reader.ts'
import { buildStatus, type CallStatus, CODES } from './to-status.ts'
import { PACKINGS, type Packing, unpackMessage } from './unpack-message.ts'

export interface MessageBounds {
  /** A message has so many bytes at most, packed and unpacked. */
  readonly bytesMax: number
  /** The call brings so many messages. */
  readonly messagesMax: number
}

const HEAD = { ':status': 200, 'content-type': 'application/grpc' } as const
const CONTENT_TYPE = /^application\/grpc(?:[+;]|$)/i
/** A client takes the answer and the status of a call within this time. */
export const TAKE_MS_MAX = 10_000
/**
 * A call is reset that has brought more frames of data than this which nothing has read. Each is a Buffer, whose object takes a
 * few hundred bytes: so many take as much as the 64 KiB that may come unread.
 */
const UNREAD_PIECES_MAX = 256
const NOT_WHOLE = buildStatus(CODES.INTERNAL, 'the call ended within a message')

export const OK: CallStatus = { code: CODES.OK, details: '' }

/**
 * One call, as gRPC puts it into a stream of HTTP/2. It ends once: with a status, or since its client or its connection has ended it.
 * Source: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export class GrpcCall {
  /** The method, such as `/dtmgimp.Dtm/Submit`. It is undefined if this is no call of gRPC. */
  readonly path: string | undefined
  /** Messages may be packed so. It is null for what is unknown. */
  readonly packing: Packing | undefined | null
  readonly #stream: ServerHttp2Stream
  #hasStatus = false
  #unreadPieces = 0

  /** It keeps nothing else of the head, which may be large beside all that a call holds. */
  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.#stream = stream
    this.path = readPath(headers)
    this.packing = readPacking(headers)
    // An error closes the stream, and that is all that counts.
    stream.on('error', () => undefined)
    this.#boundPieces()
  }

  /** No status can be sent any more. */
  get hasEnded(): boolean {
    return this.#hasStatus || this.#stream.closed || this.#stream.destroyed
  }

  /** A status was sent, or is about to be. */
  get isAnswered(): boolean {
    return this.#hasStatus
  }

  /** Nothing of the call is held any more. */
  onClosed(listener: () => void): void {
    if (this.#stream.destroyed) listener()
    else this.#stream.once('close', listener)
  }

  /**
   * Yields the messages, until the client has sent all. Each is read from the connection when the one before has been taken. Throws a CallError
   * at a message that is none, too long, or one too many, and an error of the stream if that has ended.
   */
  async *receive({ bytesMax, messagesMax }: MessageBounds): AsyncGenerator<Buffer> {
    const reader = new MessageReader(bytesMax)
    let left = messagesMax
    for await (const chunk of this.#stream.iterator({ destroyOnReturn: false })) {
      // It is all that has come.
      this.#unreadPieces = 0
      for (const { isPacked, bytes } of reader.read(chunk as Buffer)) {
        left--
        if (left < 0) throw new CallError(buildStatus(CODES.RESOURCE_EXHAUSTED, 'too many messages'))
        yield isPacked ? await unpackMessage(bytes, this.packing ?? undefined, bytesMax) : bytes
      }
    }
    if (reader.isWithinMessage) throw new CallError(NOT_WHOLE)
  }

  /** Sends a message. Returns false if it waits for the client to read, and more should not be sent before `waitForRoom`. */
  send(message: Buffer): boolean {
    if (this.hasEnded) return true
    const stream = this.#stream
    if (!stream.headersSent) stream.respond(HEAD, { waitForTrailers: true })
    const prefix = Buffer.alloc(PREFIX_BYTES)
    prefix.writeUInt32BE(message.length, 1)
    return stream.write(Buffer.concat([prefix, message]))
  }

  /** Resolves when the client has read what was sent. Rejects if the call ends before. */
  async waitForRoom(): Promise<void> {
    const closed = new AbortController()
    this.onClosed(() => closed.abort())
    await once(this.#stream, 'drain', { signal: closed.signal })
  }

  /** Ends the call with a status. Only the first one is sent. */
  end(status: CallStatus): void {
    const stream = this.#stream
    const trailers = toTrailers(status)
    if (!stream.headersSent) {
      this.#endAtOnce({ ...HEAD, ...trailers })
      return
    }
    if (this.hasEnded) return
    this.#hasStatus = true
    this.#boundEnd()
    stream.once('wantTrailers', () => {
      if (stream.closed || stream.destroyed) return
      stream.sendTrailers(trailers)
      this.#stopClient()
    })
    stream.end()
  }

  /** Answers what is no call of gRPC. */
  refuse(httpStatus: number): void {
    this.#endAtOnce({ ':status': httpStatus })
  }

  #endAtOnce(head: OutgoingHttpHeaders): void {
    if (this.hasEnded) return
    this.#hasStatus = true
    this.#boundEnd()
    this.#stream.respond(head, { endStream: true })
    this.#stopClient()
  }

  #boundPieces(): void {
    const stream = this.#stream
    const push = stream.push
    stream.push = (chunk: Buffer | null, ...rest) => {
      if (chunk !== null) this.#unreadPieces++
      if (this.#unreadPieces <= UNREAD_PIECES_MAX) return push.call(stream, chunk, ...rest)
      stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
      // A close alone would hold the pieces that have come until the client lets the answers go.
      stream.destroy()
      return false
    }
  }

  /** A client that does not take what it was answered would hold the call for as long as its connection. */
  #boundEnd(): void {
    const timer = setTimeout(() => this.#stream.close(constants.NGHTTP2_CANCEL), TAKE_MS_MAX).unref()
    this.#stream.once('close', () => clearTimeout(timer))
  }

  /** A client that has not sent all need not go on. Node sends the status at the end of this turn of the event loop, and would not after a close. */
  #stopClient(): void {
    const stream = this.#stream
    if (stream.readableEnded) return
    setImmediate(() => {
      if (!stream.destroyed) stream.close(constants.NGHTTP2_NO_ERROR)
    })
  }
}

function readPath({
  ':method': method,
  ':path': path,
  'content-type': type = '',
}: IncomingHttpHeaders): string | undefined {
  return method === 'POST' && CONTENT_TYPE.test(type) ? path : undefined
}

function readPacking({
  'grpc-encoding': name = 'identity',
}: IncomingHttpHeaders): Packing | undefined | null {
  return name === 'identity' ? undefined : (PACKINGS.find((each) => each === name) ?? null)
}

/** A status is a header, in which other characters than those of ASCII stand as those of a URL do. */
function toTrailers({ code, details }: CallStatus): Record<string, string> {
  return {
    'grpc-status': String(code),
    ...(details === '' ? {} : { 'grpc-message': encodeURI(details) }),
    ...(code === CODES.UNIMPLEMENTED ? { 'grpc-accept-encoding': ['identity', ...PACKINGS].join() } : {}),
  }
}
