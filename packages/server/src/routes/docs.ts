import type { IncomingMessage } from 'node:http'
import { type ConnectionBounds, endConnectionsWhileStopping } from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { sendRouteUnknown } from '../http/unknown-route.ts'
import type { JsonObject, Operation } from '../openapi/operation.ts'

export const docsOperation: Operation = {
  method: 'get',
  path: '/docs',
  id: 'getDocs',
  tag: 'operations',
  access: ['read'],
  summary: 'This document for people, without anything from the network',
  answers: { 200: { description: 'A page.', contentType: 'text/html' } },
  problems: [],
}

// Without the plugin's `upgrade-insecure-requests`, which would break plain HTTP on a loopback port.
const CONTENT_SECURITY_POLICY = {
  'default-src': ["'self'"],
  'base-uri': ["'none'"],
  'frame-ancestors': ["'none'"],
  'img-src': ["'self'", 'data:'],
  'object-src': ["'none'"],
  'style-src': ["'self'", "'unsafe-inline'"],
}

/** A file of the page that is on its way holds a descriptor, and buffers of so many bytes or so. */
const OPEN_FILE_BYTES = 128 * 1024

/**
 * Registers the page, which is an app of its own. It is made when a caller first asks for it: it would take a sixth of
 * each start.
 */
export function buildDocsRoute(
  document: () => Promise<JsonObject>,
  engine: Pick<EngineApi, 'isStopping'>,
  bounds: Pick<ConnectionBounds, 'holdAnswer'>,
) {
  return async function addDocsRoute(app: FastifyInstance): Promise<void> {
    const ids: RequestIds = new WeakMap()
    let made: Promise<FastifyInstance> | undefined
    const page = () => {
      made ??= makePage(app, { ids, engine, shown: document }).catch((error: unknown) => {
        // The next reader tries again.
        made = undefined
        throw error
      })
      return made
    }
    app.addHook('onClose', async () => {
      // Who asked for a page that could not be made was told.
      const open = await made?.catch(() => undefined)
      await open?.close()
    })
    async function showPart({ id, raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
      bounds.holdAnswer(raw, reply.raw, OPEN_FILE_BYTES)
      const { routing } = await page()
      ids.set(raw, id)
      routing(raw, reply.raw)
      // From here on; had it thrown, this app would answer.
      reply.hijack()
    }
    const options = { config: { access: docsOperation.access } }
    app.get(docsOperation.path, options, showPart)
    app.get(`${docsOperation.path}/*`, options, showPart)
  }
}

type RequestIds = WeakMap<IncomingMessage, string>

interface PageParts {
  /** The ids that the native API gave to these requests. */
  readonly ids: RequestIds
  readonly engine: Pick<EngineApi, 'isStopping'>
  readonly shown: () => Promise<JsonObject>
}

/** Makes the page. It refuses requests in the same way as the native API. */
async function makePage(face: FastifyInstance, { ids, engine, shown }: PageParts): Promise<FastifyInstance> {
  // A bundle for a function leaves the plugins out.
  const [{ fastifySwagger }, { fastifySwaggerUi }, document] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
    shown(),
  ])
  // It closes after the face, which refuses in its own words.
  const page = fastify({ return503OnClosing: false, genReqId: (raw) => ids.get(raw) ?? '' })
  page.setErrorHandler(face.errorHandler)
  page.setNotFoundHandler((_, reply) => sendRouteUnknown(reply))
  endConnectionsWhileStopping(page, engine)
  // The page insists on this plugin; the document that it would make is replaced by ours.
  await page.register(fastifySwagger, { openapi: {} })
  await page.register(fastifySwaggerUi, {
    routePrefix: `${face.prefix.replace(/\/$/, '')}${docsOperation.path}`,
    staticCSP: CONTENT_SECURITY_POLICY,
    transformSpecification: () => document,
    transformSpecificationClone: false,
  })
  await page.ready()
  return page
}
