import type { IncomingMessage } from 'node:http'
import { type ConnectionBounds, endConnectionsWhileStopping, readCaller } from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import { sendRouteUnknown } from '../http/unknown-route.ts'
import type { JsonObject, Operation } from '../openapi/operation.ts'

export const docsOperation: Operation = {
  method: 'get',
  path: '/docs',
  id: 'getDocs',
  tag: 'operations',
  access: ['read'],
  summary: 'Show this document as a page, without anything from the network',
  answers: { 200: { description: 'A page.', contentType: 'text/html' } },
  problems: ['SAGA_TOO_MANY_READS'],
}

// The plugin would add `upgrade-insecure-requests`, which breaks plain HTTP on a loopback port.
const CONTENT_SECURITY_POLICY = {
  'default-src': ["'self'"],
  'base-uri': ["'none'"],
  'frame-ancestors': ["'none'"],
  'img-src': ["'self'", 'data:'],
  'object-src': ["'none'"],
  'style-src': ["'self'", "'unsafe-inline'"],
}

/** A file of the page that is being sent holds a descriptor, and buffers of about this size. */
const OPEN_FILE_BYTES = 128 * 1024

/**
 * Adds the page, which is an app of its own. That app is made when a caller first asks for the page, since it would
 * take a sixth of each start.
 */
export function buildDocsRoute(
  readDocument: () => Promise<JsonObject>,
  engine: Pick<EngineApi, 'isStopping' | 'waitForTurn'>,
  bounds: Pick<ConnectionBounds, 'holdAnswer'>,
) {
  return async function addDocsRoute(app: FastifyInstance): Promise<void> {
    const ids: RequestIds = new WeakMap()
    let made: Promise<FastifyInstance> | undefined
    const openPage = () => {
      made ??= makePage(app, { ids, engine, readDocument }).catch((error: unknown) => {
        // The next reader tries again.
        made = undefined
        throw error
      })
      return made
    }
    app.addHook('onClose', async () => {
      // If the page could not be made, the caller that asked for it has got that error.
      const open = await made?.catch(() => undefined)
      await open?.close()
    })
    async function showPart({ id, raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
      await engine.waitForTurn(OPEN_FILE_BYTES, readCaller(raw))
      bounds.holdAnswer(raw, reply.raw, OPEN_FILE_BYTES)
      const { routing } = await openPage()
      ids.set(raw, id)
      routing(raw, reply.raw)
      // The page answers from here on. If one of the lines above throws, this app still answers.
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
  readonly engine: Pick<EngineApi, 'isStopping' | 'waitForTurn'>
  readonly readDocument: () => Promise<JsonObject>
}

/** Makes the page. It refuses requests in the same way as the native API. */
async function makePage(
  api: FastifyInstance,
  { ids, engine, readDocument }: PageParts,
): Promise<FastifyInstance> {
  // The plugins are imported only here, so that the bundle of a Lambda function can leave them out.
  const [{ fastifySwagger }, { fastifySwaggerUi }, document] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
    readDocument(),
  ])
  // The page closes after the API, which answers the requests that come meanwhile in its own form.
  const page = fastify({ return503OnClosing: false, genReqId: (raw) => ids.get(raw) ?? '' })
  page.setErrorHandler(api.errorHandler)
  page.setNotFoundHandler((_, reply) => sendRouteUnknown(reply))
  endConnectionsWhileStopping(page, engine)
  // The plugin of the page needs this one. The document that it would make is replaced by ours.
  await page.register(fastifySwagger, { openapi: {} })
  const routePrefix = `${api.prefix.replace(/\/$/, '')}${docsOperation.path}`
  sendDocument(page, routePrefix, document)
  await page.register(fastifySwaggerUi, {
    routePrefix,
    staticCSP: CONTENT_SECURITY_POLICY,
    transformSpecification: () => document,
    transformSpecificationClone: false,
  })
  await page.ready()
  return page
}

/**
 * The plugin would write the document anew for each reader, and that as YAML for a third of a second, so this sends it. The
 * route tells which is asked for, since the router has decoded the path: `/docs/%79aml` is the YAML too.
 */
function sendDocument(page: FastifyInstance, prefix: string, document: JsonObject): void {
  let text: Buffer | undefined
  page.addHook('onRequest', async (request, reply) => {
    const { url } = request.routeOptions
    if (url === `${prefix}/yaml`) return sendRouteUnknown(reply)
    if (url !== `${prefix}/json`) return
    text ??= Buffer.from(JSON.stringify(document))
    return reply.header('content-type', JSON_TYPE).send(text)
  })
}
