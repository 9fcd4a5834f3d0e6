import { copyText, GID_RULE, type Gid, InvalidRequestError, isGid } from '@counterstep/protocol'
import type { FastifyRequest } from 'fastify'

/**
 * Reads the gid of a path, which the router has percent-decoded. It is a copy, since the engine may remember it: a parameter of
 * the router is a part of its URL, which it would keep in memory. Throws SAGA_GID_INVALID.
 */
export function readGid(request: FastifyRequest): Gid {
  const { params } = request
  const gid = typeof params === 'object' && params !== null && 'gid' in params ? params.gid : undefined
  if (isGid(gid)) return copyText(gid) as Gid
  throw new InvalidRequestError([{ code: 'SAGA_GID_INVALID', path: 'gid', message: GID_RULE }])
}
