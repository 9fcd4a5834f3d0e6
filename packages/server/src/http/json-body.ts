import type { IncomingHttpHeaders } from 'node:http'
import { BODY_BYTES_MAX, InvalidRequestError } from '@counterstep/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseJson } from '../json/parse-json.ts'

/**
 * Makes the routes of this scope accept application/json alone. Four bypasses that were found in 2025 and 2026 needed
 * further content types.
 */
export function takeJson(app: FastifyInstance, bodyLimit: number = BODY_BYTES_MAX): void {
  app.removeAllContentTypeParsers()
  const options = { parseAs: 'buffer', bodyLimit } as const
  app.addContentTypeParser('application/json', options, (request, bytes: Buffer, done) => {
    try {
      requirePlainJson(request.headers)
      done(null, bytes)
    } catch (error) {
      done(error instanceof Error ? error : new Error('not taken', { cause: error }), undefined)
    }
  })
  parseInTurn(app)
}

/** Parses the bodies that the parsers of this scope leave as bytes, since a large body has to wait for its turn first. */
export function parseInTurn(app: FastifyInstance): void {
  app.addHook('preHandler', (request, _reply, done) => {
    try {
      if (Buffer.isBuffer(request.body)) request.body = parseJson(request.body)
      done()
    } catch (error) {
      done(error instanceof Error ? error : new Error('not parsed', { cause: error }))
    }
  })
}

/**
 * Returns the parsed body and takes it off the request. Fastify keeps the request until its answer, which may come after 60 s, and a
 * parsed body may take twenty times the memory of its text.
 */
export function takeBody(request: FastifyRequest): unknown {
  const { body } = request
  request.body = undefined
  return body
}

/** Throws for another charset than UTF-8, and for a compressed body, which nothing here unpacks. */
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

// Fastify has matched the media type, so only the charset is left to check.
function isUtf8Json(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType ?? '')?.[1]
  return charset === undefined || /^utf-?8$/i.test(charset)
}
