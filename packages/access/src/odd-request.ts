import type { IncomingMessage } from 'node:http'
import { hasTooManyParameters, PARAMETERS_MAX } from './query.ts'

/**
 * A request may have this many headers. Node holds 90 bytes for a header of eight until the request has ended, and takes a thousand
 * of them, also from a caller that never ends the body of a login.
 */
export const HEADERS_MAX = 100

/** Signals an odd request. Fastify and both HTTP APIs answer it with this status. */
export class OddRequestError extends Error {
  readonly statusCode = 400
}

/**
 * Keeps no fields that come behind a chunked body. Nothing reads them, and Node would hold up to 16 KiB of them until the request
 * has ended, which may be a wait of 60 s.
 */
export function dropTrailers(request: IncomingMessage): void {
  if (request.headers['transfer-encoding'] === undefined) return
  Object.defineProperty(request, 'rawTrailers', { get: () => [], set: () => undefined })
  // Node would make these of a number of fields that it remembers.
  for (const name of ['trailers', 'trailersDistinct']) Object.defineProperty(request, name, { value: {} })
}

/** Tells whether an HTTP/2 server received the request. The app that Counterstep is embedded in may have one. */
export function isHttp2({ httpVersionMajor, headers }: IncomingMessage): boolean {
  // A request line may say HTTP/2.0 to an HTTP/1 server, but none of its headers can have this name.
  return httpVersionMajor === 2 && headers[':method'] !== undefined
}

/**
 * Says what is odd about a request. Node's parser accepts it, but a proxy between the caller and us may read it in
 * another way, so it is refused. Returns undefined if nothing is odd.
 */
export function findOddity({
  httpVersion,
  headers,
  rawHeaders,
  url = '',
}: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'the request line must say HTTP/1.1 or HTTP/1.0'
  const encoding = headers['transfer-encoding']
  if (encoding !== undefined && (httpVersion === '1.0' || encoding.toLowerCase() !== 'chunked'))
    return 'a transfer encoding must be chunked, and needs HTTP/1.1'
  if (rawHeaders.length > 2 * HEADERS_MAX) return `there must be at most ${HEADERS_MAX} headers`
  if (hasTooManyParameters(url)) return `the URL must have at most ${PARAMETERS_MAX} parameters`
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  const isWithoutHost = hosts === 0 && httpVersion === '1.1'
  return hosts > 1 || isWithoutHost ? 'there must be one Host header' : undefined
}
