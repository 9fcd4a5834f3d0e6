import { CounterstepError, type Gid, InvalidRequestError, isGid } from '@counterstep/protocol'
import type { FastifyRequest } from 'fastify'

/** The gid of a path, already percent-decoded by the router. Throws SAGA_GID_INVALID. */
export function gidOf(request: FastifyRequest): Gid {
  const { params } = request
  const gid = typeof params === 'object' && params !== null && 'gid' in params ? params.gid : undefined
  if (isGid(gid)) return gid
  const message =
    'a gid is 1–128 printable ASCII characters without space, quote, backslash or semicolon, and not . or ..'
  throw new InvalidRequestError([{ code: 'SAGA_GID_INVALID', path: 'gid', message }])
}

export function unknownGid(gid: Gid): CounterstepError {
  return Object.assign(new CounterstepError('SAGA_UNKNOWN_GID', 'there is no transaction with this gid'), {
    gid,
  })
}
