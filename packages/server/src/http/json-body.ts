import { InvalidRequestError } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'
import { parseJson } from '../json/parse-json.ts'

/** Lets the routes of this scope take application/json, and nothing else (four bypasses of 2025-26 lived in more). */
export function takeJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    try {
      if (!isUtf8Json(request.headers['content-type'])) throw unsupportedMediaType()
      done(null, parseJson(bytes))
    } catch (error) {
      done(error instanceof Error ? error : new Error('not parsed', { cause: error }), undefined)
    }
  })
}

export function unsupportedMediaType(): InvalidRequestError {
  const message = 'the content type must be application/json in UTF-8'
  return new InvalidRequestError([{ code: 'SAGA_UNSUPPORTED_MEDIA_TYPE', path: 'content-type', message }])
}

// Fastify has matched the media type; what is left to see is a charset that is not the one of JSON.
export function isUtf8Json(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType ?? '')?.[1]
  return charset === undefined || /^utf-?8$/i.test(charset)
}
