import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
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

const NOT_FOUND = 404
/** Of the connection, which is this app's. */
const OF_CONNECTION: ReadonlySet<string> = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding'])

/** The page is an app of its own, made when somebody first asks for it: at each start it would be a sixth of that. */
export function docsRoute(document: () => Promise<JsonObject>) {
  return async function docsPlugin(app: FastifyInstance): Promise<void> {
    let made: Promise<FastifyInstance> | undefined
    const page = () => {
      made ??= makePage(`${app.prefix}${docsOperation.path}`, document).catch((error: unknown) => {
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
    async function sendPart({ url, headers }: FastifyRequest, reply: FastifyReply): Promise<unknown> {
      const answer = await (await page()).inject({ url, headers })
      if (answer.statusCode === NOT_FOUND) return sendRouteUnknown(reply)
      for (const [name, value] of Object.entries(answer.headers)) {
        if (value !== undefined && !OF_CONNECTION.has(name)) reply.header(name, value)
      }
      return reply.code(answer.statusCode).send(answer.rawPayload)
    }
    const options = { config: { access: docsOperation.access } }
    app.get(docsOperation.path, options, sendPart)
    app.get(`${docsOperation.path}/*`, options, sendPart)
  }
}

async function makePage(prefix: string, document: () => Promise<JsonObject>): Promise<FastifyInstance> {
  const [{ fastify }, { fastifySwagger }, { fastifySwaggerUi }, shown] = await Promise.all([
    import('fastify'),
    // A bundle for a function leaves the plugins out.
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
    document(),
  ])
  const app = fastify()
  // The page insists on this plugin; the document that it would make is replaced by ours.
  await app.register(fastifySwagger, { openapi: {} })
  await app.register(fastifySwaggerUi, {
    routePrefix: prefix,
    staticCSP: CONTENT_SECURITY_POLICY,
    transformSpecification: () => shown,
    transformSpecificationClone: false,
  })
  await app.ready()
  return app
}
