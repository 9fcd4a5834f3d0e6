import { ConnectionBounds, type ReachedBound } from '@counterstep/access'
import { DEFAULT_SERVER_LIMITS } from '@counterstep/server'
import type { FastifyInstance } from 'fastify'
import type { Face } from './options.ts'

interface ServerBounds {
  readonly bounds: ConnectionBounds
  readonly unreadBodyBytesMax: number
}

const BOUNDS = new WeakMap<FastifyInstance['server'], ServerBounds>()

/**
 * Returns the bounds of the connections of an app's server, which all faces of the app share: one connection may bring
 * requests to each of them. Throws a TypeError if a face wants another bound than the one before it.
 */
export function openServerBounds(
  { server }: FastifyInstance,
  face: Pick<Face, 'unreadBodyBytesMax'>,
  onReached: (bound: ReachedBound) => void,
): ConnectionBounds {
  const known = BOUNDS.get(server)
  const { unreadBodyBytesMax = known?.unreadBodyBytesMax ?? DEFAULT_SERVER_LIMITS.unreadBodyBytesMax } = face
  if (known === undefined) {
    // The app's own server decides how many connections there may be.
    const connectionsMax = Number.POSITIVE_INFINITY
    const limits = { ...DEFAULT_SERVER_LIMITS, connectionsMax, unreadBodyBytesMax }
    const bounds = new ConnectionBounds(limits, onReached)
    BOUNDS.set(server, { bounds, unreadBodyBytesMax })
    return bounds
  }
  if (known.unreadBodyBytesMax !== unreadBodyBytesMax)
    throw new TypeError(
      `counterstep face.unreadBodyBytesMax is one for all of an app: it is ${known.unreadBodyBytesMax} already`,
    )
  return known.bounds
}
