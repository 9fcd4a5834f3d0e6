import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import { toSharedJson } from '../http/shared-json.ts'
import type { Operation } from '../openapi/operation.ts'
import { servicesExample } from '../openapi/operator-examples.ts'

export const servicesOperation: Operation = {
  method: 'get',
  path: '/v1/services',
  id: 'getServices',
  tag: 'operations',
  access: ['read'],
  summary: 'Read how the calls of each service went',
  description: 'The memory begins with the node: a restart empties it.',
  answers: {
    200: {
      description: 'The services, those that look down first.',
      schema: 'ServicesView',
      example: servicesExample,
    },
  },
  problems: [],
}

export function buildServicesRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addServicesRoute(app: FastifyInstance): Promise<void> {
    const options = { config: { access: servicesOperation.access }, handlerTimeout: handlerTimeoutMs }
    app.get('/v1/services', options, async function getServices(_request, reply) {
      const view = await engine.services()
      return reply.header('content-type', JSON_TYPE).send(toSharedJson(view))
    })
  }
}
