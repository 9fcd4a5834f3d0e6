import type { FastifyInstance } from 'fastify'
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

export function docsRoute(document: () => Promise<JsonObject>) {
  return async function docsPlugin(app: FastifyInstance): Promise<void> {
    // Of the page's own routes none says it.
    app.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: docsOperation.access }
    })
    // The plugin asks for it where nothing can be waited for. Not in onRequest, where it would come before the gate.
    let shown: JsonObject = {}
    app.addHook('preHandler', async () => {
      shown = await document()
    })
    // Loaded where there is a page: a bundle for a function leaves the plugins out.
    const { fastifySwagger } = await import('@fastify/swagger')
    const { fastifySwaggerUi } = await import('@fastify/swagger-ui')
    // The page insists on this plugin; the document that it would make is replaced by ours.
    await app.register(fastifySwagger, { openapi: {} })
    await app.register(fastifySwaggerUi, {
      routePrefix: '/docs',
      staticCSP: CONTENT_SECURITY_POLICY,
      transformSpecification: () => shown,
      transformSpecificationClone: false,
    })
  }
}
