import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { abortingExample, stoppedExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { answerCommand, COMMAND_PROBLEMS } from './answer-command.ts'
import { gidParameter } from './gid-parameter.ts'

export const stopOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/stop',
  id: 'stopTransaction',
  tag: 'transactions',
  access: ['admin'],
  summary: 'End a transaction as it is',
  description:
    'Nothing more is called, and nothing is undone. It is for an operator who has repaired the data by hand. It takes no body.',
  parameters: [gidParameter],
  answers: {
    200: {
      description: 'The command is durable, and the transaction is final.',
      schema: 'TransactionView',
      example: stoppedExample,
    },
    202: {
      description: 'The command is durable, and the transaction goes on.',
      schema: 'TransactionView',
      example: abortingExample,
    },
  },
  problems: COMMAND_PROBLEMS,
}

export function buildStopRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addStopRoute(app: FastifyInstance): Promise<void> {
    const path = '/v1/transactions/:gid/stop'
    const { access } = stopOperation
    await answerCommand(app, { path, access, handlerTimeoutMs, run: (gid) => engine.stop(gid) })
  }
}
