import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2'
import { onTestFinished } from 'vitest'
import { DEFINITION, type GrpcFixture } from './grpc-fixture.ts'

/** Opens a session that ends with its test, and whose errors are not told. */
export function openSession({ address }: GrpcFixture): ClientHttp2Session {
  const session = connect(`http://${address}`)
  session.on('error', () => undefined)
  onTestFinished(() => session.destroy())
  return session
}

/** Opens a call, and sends a part of its message. */
export function openCall(
  session: ClientHttp2Session,
  sent: Buffer,
  path = '/dtmgimp.Dtm/Submit',
  headers: OutgoingHttpHeaders = {},
) {
  const stream = session.request({
    ...headers,
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    'grpc-encoding': 'gzip',
    te: 'trailers',
  })
  stream.on('error', () => undefined)
  stream.resume()
  const status = new Promise<string | undefined>((resolve) => {
    stream.on('response', (headers) => {
      if (headers['grpc-status'] !== undefined) resolve(String(headers['grpc-status']))
    })
    stream.on('trailers', (trailers) => resolve(String(trailers['grpc-status'])))
    stream.on('close', () => resolve(undefined))
  })
  stream.write(sent)
  return { stream, status }
}

/** Writes the head of a message before it. */
export function toMessage(content: Buffer, isPacked = 0): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(isPacked, 0)
  head.writeUInt32BE(content.length, 1)
  return Buffer.concat([head, content])
}

/** Writes a message of DTM's Submit. */
export function serializeSubmit(message: object): Buffer {
  const { Submit } = DEFINITION['dtmgimp.Dtm'] as unknown as Readonly<
    Record<string, { readonly requestSerialize: (value: object) => Buffer }>
  >
  if (Submit === undefined) throw new Error('the service has no Submit')
  return Submit.requestSerialize(message)
}
