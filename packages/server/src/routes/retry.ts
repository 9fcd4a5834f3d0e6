import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { finishedExample, retriedExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { answerCommand, COMMAND_PROBLEMS } from './answer-command.ts'
import { gidParameter } from './gid-parameter.ts'

export const retryOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/retry',
  id: 'retryTransaction',
  tag: 'transactions',
  access: ['admin'],
  summary: 'Call branches now that wait for their back-off',
  description:
    'This also takes up a transaction that is parked until an operator looks at it. It takes no body.',
  parameters: [gidParameter],
  answers: {
    200: {
      description: 'The command is durable, and the transaction is final.',
      schema: 'TransactionView',
      example: finishedExample,
    },
    202: {
      description: 'The command is durable, and the transaction goes on.',
      schema: 'TransactionView',
      example: retriedExample,
    },
  },
  problems: COMMAND_PROBLEMS,
}

export function buildRetryRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addRetryRoute(app: FastifyInstance): Promise<void> {
    const path = '/v1/transactions/:gid/retry'
    const { access } = retryOperation
    await answerCommand(app, { path, access, handlerTimeoutMs, run: (gid) => engine.retry(gid) })
  }
}
