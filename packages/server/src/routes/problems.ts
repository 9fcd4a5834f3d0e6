import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import { problemsExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'

export const problemsOperation: Operation = {
  method: 'get',
  path: '/v1/problems',
  id: 'listProblems',
  tag: 'operations',
  access: ['read'],
  summary: 'Count what transactions wait for',
  description:
    'The figures are of all nodes, and at most 5 s old. The list with problem= shows the transactions behind one.',
  answers: { 200: { description: 'The problems.', schema: 'ProblemsView', example: problemsExample } },
  problems: ['SAGA_STORE_UNAVAILABLE', 'SAGA_STORE_CLOSED'],
}

export function buildProblemsRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addProblemsRoute(app: FastifyInstance): Promise<void> {
    const config = { access: problemsOperation.access }
    const options = { config, handlerTimeout: handlerTimeoutMs }
    app.get('/v1/problems', options, async function listProblems(_request, reply) {
      return reply.header('content-type', JSON_TYPE).send(JSON.stringify(await engine.problems()))
    })
  }
}
