import type { IncomingHttpHeaders } from 'node:http'
import { BODY_BYTES_MAX, InvalidRequestError } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'
import { parseJson } from '../json/parse-json.ts'

/** Lets the routes of this scope take application/json, and nothing else (four bypasses of 2025-26 lived in more). */
export function takeJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const options = { parseAs: 'buffer', bodyLimit: BODY_BYTES_MAX } as const
  app.addContentTypeParser('application/json', options, (request, bytes: Buffer, done) => {
    try {
      requirePlainJson(request.headers)
      done(null, bytes)
    } catch (error) {
      done(error instanceof Error ? error : new Error('not taken', { cause: error }), undefined)
    }
  })
  // Not by the parser above: a large body waits for its turn before it is parsed.
  app.addHook('preHandler', (request, _reply, done) => {
    try {
      if (Buffer.isBuffer(request.body)) request.body = parseJson(request.body)
      done()
    } catch (error) {
      done(error instanceof Error ? error : new Error('not parsed', { cause: error }))
    }
  })
}

/** Throws for another charset than that of JSON, and for a compressed body: nothing here unpacks one. */
export function requirePlainJson(headers: IncomingHttpHeaders): void {
  if (!isUtf8Json(headers['content-type'])) throw createMediaTypeError()
  const coding = headers['content-encoding']
  if (coding === undefined || coding === '' || coding.toLowerCase() === 'identity') return
  const message = 'the body must not be compressed'
  throw new InvalidRequestError([{ code: 'SAGA_UNSUPPORTED_MEDIA_TYPE', path: 'content-encoding', message }])
}

export function createMediaTypeError(): InvalidRequestError {
  const message = 'the content type must be application/json in UTF-8'
  return new InvalidRequestError([{ code: 'SAGA_UNSUPPORTED_MEDIA_TYPE', path: 'content-type', message }])
}

// Fastify has matched the media type; what is left to see is a charset that is not the one of JSON.
function isUtf8Json(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType ?? '')?.[1]
  return charset === undefined || /^utf-?8$/i.test(charset)
}
