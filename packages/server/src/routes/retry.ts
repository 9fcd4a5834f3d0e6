import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { readCommandBody } from '../http/command-body.ts'
import { readGid } from '../http/read-gid.ts'
import { commandExample, finishedExample, retriedExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { answerCommand, OPERATOR_PROBLEMS } from './answer-command.ts'
import { describeCommandAnswers } from './command-answers.ts'
import { gidParameter } from './gid-parameter.ts'

export const retryOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/retry',
  id: 'retryTransaction',
  tag: 'transactions',
  access: ['operate', 'admin'],
  summary: 'Call branches now that wait for their back-off',
  description: 'This also takes up a transaction that is parked until an operator looks at it.',
  parameters: [gidParameter],
  body: { schema: 'CommandRequest', required: false, examples: { reason: commandExample } },
  answers: describeCommandAnswers(finishedExample, retriedExample),
  problems: [...OPERATOR_PROBLEMS, 'SAGA_PAUSED'],
}

export function buildRetryRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addRetryRoute(app: FastifyInstance): Promise<void> {
    await answerCommand(app, {
      path: '/v1/transactions/:gid/retry',
      access: retryOperation.access,
      handlerTimeoutMs,
      run: async (request) => engine.retry(readGid(request), readCommandBody(request).given),
    })
  }
}
