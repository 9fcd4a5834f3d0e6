import { readCaller } from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
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
  problems: ['SAGA_TOO_MANY_READS'],
}

/** Builds the route of the document. `readDocument` is called at the first request. */
export function buildOpenApiRoute(
  readDocument: () => Promise<JsonObject>,
  engine: Pick<EngineApi, 'waitForTurn'>,
) {
  let text: string | undefined
  return async function addOpenApiRoute(app: FastifyInstance): Promise<void> {
    app.get(
      '/openapi.json',
      { config: { access: openApiOperation.access } },
      async function getOpenApi(request, reply) {
        const caller = readCaller(request.raw)
        text ??= JSON.stringify(await readDocument())
        await engine.waitForTurn(text.length, caller)
        return reply.header('content-type', JSON_TYPE).send(text)
      },
    )
  }
}
