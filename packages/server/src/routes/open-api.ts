import type { FastifyInstance } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import type { JsonObject, Operation } from '../openapi/operation.ts'

export const openApiOperation: Operation = {
  method: 'get',
  path: '/openapi.json',
  id: 'getOpenApi',
  tag: 'operations',
  access: ['read'],
  summary: 'This document',
  answers: { 200: { description: 'OpenAPI 3.1.', schema: 'JsonValue', example: { openapi: '3.1.0' } } },
  problems: [],
}

/** Builds the route of the document. `readDocument` is called at the first request. */
export function buildOpenApiRoute(readDocument: () => Promise<JsonObject>) {
  let text: string | undefined
  return async function addOpenApiRoute(app: FastifyInstance): Promise<void> {
    app.get(
      '/openapi.json',
      { config: { access: openApiOperation.access } },
      async function getOpenApi(_request, reply) {
        text ??= JSON.stringify(await readDocument())
        return reply.header('content-type', JSON_TYPE).send(text)
      },
    )
  }
}
