import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import { toSharedJson } from '../http/shared-json.ts'
import type { Operation } from '../openapi/operation.ts'
import { namesExample } from '../openapi/operator-examples.ts'

export const namesOperation: Operation = {
  method: 'get',
  path: '/v1/names',
  id: 'getNames',
  tag: 'operations',
  access: ['read'],
  summary: 'Read how the transactions of each name went',
  description: 'The memory begins with the node: a restart empties it.',
  answers: {
    200: {
      description: 'The names, those with the most transactions first.',
      schema: 'NamesView',
      example: namesExample,
    },
  },
  problems: [],
}

export function buildNamesRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addNamesRoute(app: FastifyInstance): Promise<void> {
    const options = { config: { access: namesOperation.access }, handlerTimeout: handlerTimeoutMs }
    app.get('/v1/names', options, async function getNames(_request, reply) {
      const view = await engine.names()
      return reply.header('content-type', JSON_TYPE).send(toSharedJson(view))
    })
  }
}
