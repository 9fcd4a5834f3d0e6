import { readActor } from '@counterstep/access'
import type { Given } from '@counterstep/engine'
import { type Fault, InvalidRequestError, REASON_LENGTH_MAX } from '@counterstep/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createMediaTypeError, parseInTurn, requirePlainJson } from './json-body.ts'

/** A reason fits even if each of its characters is written as an escape, and one that is somewhat too long is told so. */
export const COMMAND_BYTES_MAX = 32 * 1024
const NOTHING = /^\s*(?:\{\s*\}\s*)?$/
const TEXT_FIELDS = ['commandId', 'reason', 'planId', 'confirm'] as const

type Fields = Readonly<Record<string, unknown>>

export interface CommandBody {
  readonly given: Given
  /** The fields that this command has beside those of every command. */
  readonly own: Fields
}

/** Makes the routes of this scope accept no body, `{}` of any content type, or JSON. So `curl -X POST url` works. */
export function takeCommandBody(app: FastifyInstance, bodyLimit: number = COMMAND_BYTES_MAX): void {
  app.removeAllContentTypeParsers()
  const options = { parseAs: 'buffer', bodyLimit } as const
  app.addContentTypeParser(/^application\/json(?:[\s;]|$)/i, options, (request, bytes: Buffer, done) => {
    try {
      requirePlainJson(request.headers)
      done(null, bytes.length === 0 ? undefined : bytes)
    } catch (error) {
      done(error instanceof Error ? error : new Error('not parsed', { cause: error }), undefined)
    }
  })
  app.addContentTypeParser('*', options, (_request, bytes: Buffer, done) => {
    if (NOTHING.test(bytes.toString('latin1'))) done(null, undefined)
    else done(createMediaTypeError(), undefined)
  })
  parseInTurn(app)
}

/**
 * Reads who gives the command of a request, and why. `ownFields` are the names that this command has beside those of
 * every command; `confirm` is one of them where it is allowed. Throws an InvalidRequestError.
 */
export function readCommandBody(request: FastifyRequest, ownFields: readonly string[] = []): CommandBody {
  const body = readFields(request.body)
  const known = new Set<string>([...TEXT_FIELDS.filter((name) => name !== 'confirm'), ...ownFields])
  // The path does not point to the unknown field, since it would quote a name that may be long.
  if (Object.keys(body).some((name) => !known.has(name)))
    throw new InvalidRequestError([
      { code: 'SAGA_UNKNOWN_FIELD', path: '', message: `this command takes ${[...known].join(', ')} only` },
    ])
  const [first, ...others] = findFaults(body)
  if (first !== undefined) throw new InvalidRequestError([first, ...others])
  const texts = Object.fromEntries(TEXT_FIELDS.flatMap((name) => (name in body ? [[name, body[name]]] : [])))
  const own = Object.fromEntries(
    Object.entries(body).filter(([name]) => !TEXT_FIELDS.some((field) => field === name)),
  )
  return { given: { ...texts, by: readActor(request.raw) }, own }
}

function readFields(body: unknown): Fields {
  if (body === undefined) return {}
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body }
  throw new InvalidRequestError([{ code: 'SAGA_INVALID', path: '', message: 'must be a JSON object' }])
}

function findFaults(body: Fields): readonly Fault[] {
  return TEXT_FIELDS.flatMap((name): readonly Fault[] => {
    const value = body[name]
    if (value === undefined || isText(value)) return []
    const message = `must be a text of at most ${REASON_LENGTH_MAX} characters that UTF-8 can carry`
    return [{ code: 'SAGA_INVALID', path: `/${name}`, message }]
  })
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= REASON_LENGTH_MAX && !/\p{Surrogate}/u.test(value)
}
