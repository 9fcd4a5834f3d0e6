import { isPerson, PERSON_RULE } from '@counterstep/access'
import { type ErrorCode, InvalidRequestError, type LoginRequest } from '@counterstep/protocol'

/** A login fits, even if each character of its person is written as an escape. */
export const LOGIN_BYTES_MAX = 1024

/** A segment has no sign that means something in a cookie's attribute. */
const PATH = /^(?:\/[A-Za-z0-9._~!$&'()*+,=:@%-]+)*\/?$/

/** Reads the body of a login. Throws an InvalidRequestError, whose text quotes nothing of the body. */
export function readLogin(body: unknown): LoginRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw createFault('SAGA_INVALID', '', 'must be a JSON object')
  const { key, person, path, ...more } = body as Readonly<Record<string, unknown>>
  if (Object.keys(more).length > 0)
    throw createFault('SAGA_UNKNOWN_FIELD', '', 'a login takes key, person and path, and no other field')
  if (typeof key !== 'string') throw createFault('SAGA_INVALID', '/key', 'must be a text')
  if (person !== undefined && !isPerson(person)) throw createFault('SAGA_INVALID', '/person', PERSON_RULE)
  if (path !== undefined && (typeof path !== 'string' || !PATH.test(path)))
    throw createFault('SAGA_INVALID', '/path', 'must be the path of a URL')
  return { key, ...(person === undefined ? {} : { person }), ...(path === undefined ? {} : { path }) }
}

/**
 * Chooses the path of the session's cookie: the root of this API, as the browser sees it. A proxy may have put a prefix
 * before it, so the given path has to end like that root.
 */
export function chooseCookiePath(root: string, given: string | undefined): string {
  const own = root.replace(/\/$/, '')
  if (given === undefined) return own === '' ? '/' : own
  const seen = given.replace(/\/$/, '')
  if (!seen.endsWith(own)) throw createFault('SAGA_INVALID', '/path', 'must end with the root of this API')
  return seen === '' ? '/' : seen
}

function createFault(code: ErrorCode, path: string, message: string): InvalidRequestError {
  return new InvalidRequestError([{ code, path, message }])
}
