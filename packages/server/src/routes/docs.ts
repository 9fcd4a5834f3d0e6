import { fastifySwagger } from '@fastify/swagger'
import { fastifySwaggerUi } from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import type { JsonObject } from '../openapi/operation.ts'
import { docsOperation } from './docs-operation.ts'

// Without the plugin's `upgrade-insecure-requests`, which would break plain HTTP on a loopback port.
const CONTENT_SECURITY_POLICY = {
  'default-src': ["'self'"],
  'base-uri': ["'none'"],
  'frame-ancestors': ["'none'"],
  'img-src': ["'self'", 'data:'],
  'object-src': ["'none'"],
  'style-src': ["'self'", "'unsafe-inline'"],
}

export function docsRoute(document: JsonObject) {
  return async function docsPlugin(app: FastifyInstance): Promise<void> {
    // Of the page's own routes none says it.
    app.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: docsOperation.access }
    })
    // The page insists on this plugin; the document that it would make is replaced by ours.
    await app.register(fastifySwagger, { openapi: {} })
    await app.register(fastifySwaggerUi, {
      routePrefix: '/docs',
      staticCSP: CONTENT_SECURITY_POLICY,
      transformSpecification: () => document,
      transformSpecificationClone: false,
    })
  }
}
