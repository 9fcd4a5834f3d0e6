import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2'

/** Longer than any wait that is asked for, so that the server's own answer comes first. */
const ANSWER_MS_MAX = 40_000
/** A frame of gRPC opens with a byte that says whether it is compressed, and with the length of the message. */
const FRAME_HEAD_BYTES = 5

export type GrpcOutcome =
  | { readonly type: 'answer'; readonly status: string; readonly message: string }
  | { readonly type: 'none'; readonly reason: 'timeouts' | 'connectionErrors'; readonly details: string }

/**
 * Calls a unary method on a connection of HTTP/2. It is bare, since a client's library would take more of the machine than
 * the servers that are measured.
 */
export class GrpcCaller {
  readonly #session: ClientHttp2Session
  readonly #method: string

  constructor(session: ClientHttp2Session, method: string) {
    this.#session = session
    this.#method = method
  }

  /** The parts are the message. Resolves when the call has ended. */
  async call(parts: readonly Buffer[]): Promise<GrpcOutcome> {
    return await new Promise((resolve) => {
      let status: unknown
      let message: unknown
      const readStatus = (headers: IncomingHttpHeaders) => {
        status ??= headers['grpc-status']
        message ??= headers['grpc-message']
      }
      const fail = (reason: 'timeouts' | 'connectionErrors', details: string) =>
        resolve({ type: 'none', reason, details })
      if (this.#session.destroyed) return fail('connectionErrors', 'the connection is closed')
      const stream = this.#session.request({
        ':method': 'POST',
        ':path': this.#method,
        'content-type': 'application/grpc',
        te: 'trailers',
      })
      stream.setTimeout(ANSWER_MS_MAX, () => {
        fail('timeouts', `no answer within ${ANSWER_MS_MAX} ms`)
        stream.close()
      })
      // A call that has failed at once has its status in the only head of the answer, any other one in the trailers.
      stream.on('response', readStatus)
      stream.on('trailers', readStatus)
      stream.on('error', (error) => fail('connectionErrors', error.message))
      stream.on('close', () => {
        if (status === undefined) fail('connectionErrors', 'the call has ended without a status')
        else resolve({ type: 'answer', status: String(status), message: String(message ?? '') })
      })
      stream.resume()
      stream.end(toFrame(parts))
    })
  }
}

function toFrame(parts: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES)
  head.writeUInt32BE(
    parts.reduce((sum, { length }) => sum + length, 0),
    1,
  )
  return Buffer.concat([head, ...parts])
}
