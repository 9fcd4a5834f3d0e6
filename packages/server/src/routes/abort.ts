import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { abortedExample, abortingExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { answerCommand, COMMAND_PROBLEMS } from './answer-command.ts'
import { gidParameter } from './gid-parameter.ts'

export const abortOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/abort',
  id: 'abortTransaction',
  tag: 'transactions',
  summary: 'Turn a transaction around',
  description: 'The decision is durable when this is answered; the compensations follow. Takes no body.',
  parameters: [gidParameter],
  answers: {
    200: {
      description: 'Durable, and the transaction is final.',
      schema: 'TransactionView',
      example: abortedExample,
    },
    202: {
      description: 'Durable; the transaction goes on.',
      schema: 'TransactionView',
      example: abortingExample,
    },
  },
  problems: COMMAND_PROBLEMS,
}

export function abortRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function abortPlugin(app: FastifyInstance): Promise<void> {
    const path = '/v1/transactions/:gid/abort'
    await answerCommand(app, { path, handlerTimeoutMs, run: (gid) => engine.abort(gid) })
  }
}
