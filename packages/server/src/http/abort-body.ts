import { InvalidRequestError, REASON_LENGTH_MAX } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'
import { parseJson } from '../json/parse-json.ts'
import { createMediaTypeError, requirePlainJson } from './json-body.ts'

/** A reason fits even if each of its characters is written as an escape. */
const BODY_BYTES_MAX = 8 * 1024
const NOTHING = /^\s*(?:\{\s*\}\s*)?$/

/** Makes the routes of this scope accept no body, `{}` of any content type, or JSON. */
export function takeAbortBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const options = { parseAs: 'buffer', bodyLimit: BODY_BYTES_MAX } as const
  app.addContentTypeParser(/^application\/json(?:[\s;]|$)/i, options, (request, bytes: Buffer, done) => {
    try {
      requirePlainJson(request.headers)
      done(null, bytes.length === 0 ? undefined : parseJson(bytes))
    } catch (error) {
      done(error instanceof Error ? error : new Error('not parsed', { cause: error }), undefined)
    }
  })
  app.addContentTypeParser('*', options, (_request, bytes: Buffer, done) => {
    if (NOTHING.test(bytes.toString('latin1'))) done(null, undefined)
    else done(createMediaTypeError(), undefined)
  })
}

/** Reads the reason of an abort, if it has one. Throws an InvalidRequestError. */
export function readReason(body: unknown): string | undefined {
  if (body === undefined) return undefined
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new InvalidRequestError([{ code: 'SAGA_INVALID', path: '', message: 'must be a JSON object' }])
  }
  // The path does not point to the unknown field, since it would quote a name that may be long.
  if (Object.keys(body).some((name) => name !== 'reason')) {
    const message = 'an abort takes a reason, and no other field'
    throw new InvalidRequestError([{ code: 'SAGA_UNKNOWN_FIELD', path: '', message }])
  }
  const reason: unknown = 'reason' in body ? body.reason : undefined
  if (reason === undefined || isReason(reason)) return reason
  const message = `must be a text of at most ${REASON_LENGTH_MAX} characters that UTF-8 can carry`
  throw new InvalidRequestError([{ code: 'SAGA_INVALID', path: '/reason', message }])
}

function isReason(value: unknown): value is string {
  return typeof value === 'string' && value.length <= REASON_LENGTH_MAX && !/\p{Surrogate}/u.test(value)
}
