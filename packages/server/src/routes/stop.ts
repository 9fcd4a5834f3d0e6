import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { readCommandBody } from '../http/command-body.ts'
import { readGid } from '../http/read-gid.ts'
import { abortingExample, stoppedExample, stopRequestExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { answerCommand, OPERATOR_PROBLEMS } from './answer-command.ts'
import { describeCommandAnswers } from './command-answers.ts'
import { gidParameter } from './gid-parameter.ts'

export const stopOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/stop',
  id: 'stopTransaction',
  tag: 'transactions',
  access: ['admin'],
  summary: 'End a transaction as it is',
  description:
    'Nothing more is called, and nothing is undone. It is for an operator who has repaired the data by hand, and who says why.',
  parameters: [gidParameter],
  body: { schema: 'StopRequest', required: true, examples: { reason: stopRequestExample } },
  answers: describeCommandAnswers(stoppedExample, abortingExample),
  problems: [...OPERATOR_PROBLEMS, 'SAGA_REASON_REQUIRED'],
}

export function buildStopRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addStopRoute(app: FastifyInstance): Promise<void> {
    await answerCommand(app, {
      path: '/v1/transactions/:gid/stop',
      access: stopOperation.access,
      handlerTimeoutMs,
      run: async (request) => engine.stop(readGid(request), readCommandBody(request).given),
    })
  }
}
