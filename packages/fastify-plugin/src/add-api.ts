import { ConnectionBounds } from '@counterstep/access'
import { VERSION } from '@counterstep/protocol'
import { addNativeFace, DEFAULT_SERVER_LIMITS, type NativeFaceDeps, warnOfBounds } from '@counterstep/server'
import type { FastifyInstance } from 'fastify'
import type { Face } from './options.ts'

export const FACE_PREFIX = '/counterstep'

type FaceParts = Required<
  Pick<NativeFaceDeps, 'engine' | 'store' | 'logger' | 'registry' | 'gate' | 'insecure'>
>

/** Adds the face in a scope of its own, so that nothing that it sets reaches the app's other routes. */
export async function addFace(app: FastifyInstance, face: Face, parts: FaceParts): Promise<void> {
  const { engine, store, logger, registry, gate, insecure } = parts
  const { handlerTimeoutMs, unreadBodyBytesMax } = DEFAULT_SERVER_LIMITS
  // The app's own server decides how many connections there may be.
  const limits = {
    ...DEFAULT_SERVER_LIMITS,
    connectionsMax: Number.POSITIVE_INFINITY,
    unreadBodyBytesMax: face.unreadBodyBytesMax ?? unreadBodyBytesMax,
  }
  await app.register(
    async function counterstepFace(scope) {
      scope.addHook('onRoute', hideFromDocuments)
      addNativeFace(scope, {
        ...{ engine, store, logger, registry, gate },
        bounds: new ConnectionBounds(limits, warnOfBounds(logger)),
        insecure: [...(gate.hasKeys ? [] : ['no-keys']), ...insecure],
        handlerTimeoutMs,
        version: VERSION,
        page: 'none',
      })
    },
    { prefix: face.prefix ?? FACE_PREFIX },
  )
}

/** @fastify/swagger, if the app has it, would put the face's routes into the document of the app's own. */
function hideFromDocuments(route: { schema?: object }): void {
  Object.assign(route, { schema: { ...route.schema, hide: true } })
}
