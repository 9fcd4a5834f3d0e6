import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import { toSharedJson } from '../http/shared-json.ts'
import type { Operation } from '../openapi/operation.ts'
import { overviewExample } from '../openapi/operator-examples.ts'

export const overviewOperation: Operation = {
  method: 'get',
  path: '/v1/overview',
  id: 'getOverview',
  tag: 'operations',
  access: ['read'],
  summary: 'Read how the nodes and the store are',
  description:
    'It is answered from memory, and from figures of the store that are a few seconds old. While the store is away it shows the last ones, and says so.',
  answers: { 200: { description: 'The overview.', schema: 'OverviewView', example: overviewExample } },
  problems: [],
}

export function buildOverviewRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addOverviewRoute(app: FastifyInstance): Promise<void> {
    const options = { config: { access: overviewOperation.access }, handlerTimeout: handlerTimeoutMs }
    app.get('/v1/overview', options, async function getOverview(_request, reply) {
      const view = await engine.overview()
      return reply.header('content-type', JSON_TYPE).send(toSharedJson(view))
    })
  }
}
