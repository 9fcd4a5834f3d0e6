import { GID_RULE, type Gid, InvalidRequestError, isGid } from '@counterstep/protocol'
import type { FastifyRequest } from 'fastify'

/** Reads the gid of a path, which the router has percent-decoded. Throws SAGA_GID_INVALID. */
export function readGid(request: FastifyRequest): Gid {
  const { params } = request
  const gid = typeof params === 'object' && params !== null && 'gid' in params ? params.gid : undefined
  if (isGid(gid)) return gid
  throw new InvalidRequestError([{ code: 'SAGA_GID_INVALID', path: 'gid', message: GID_RULE }])
}
