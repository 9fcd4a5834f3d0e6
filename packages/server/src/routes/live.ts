import type { FastifyInstance } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import type { Operation } from '../openapi/operation.ts'

export const liveOperation: Operation = {
  method: 'get',
  path: '/health/live',
  id: 'getLiveness',
  tag: 'operations',
  access: 'open',
  summary: 'Tell whether the process answers',
  answers: { 200: { description: 'The process answers.', schema: 'Liveness', example: { status: 'live' } } },
  problems: [],
}

const LIVE = JSON.stringify({ status: 'live' })

export async function addLiveRoute(app: FastifyInstance): Promise<void> {
  app.get(
    '/health/live',
    { config: { access: liveOperation.access } },
    function getLiveness(_request, reply) {
      reply.header('content-type', JSON_TYPE).send(LIVE)
    },
  )
}
