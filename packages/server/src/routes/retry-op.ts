import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { readCommandBody } from '../http/command-body.ts'
import { readGid } from '../http/read-gid.ts'
import { readOp } from '../http/read-op.ts'
import { commandExample, finishedExample, retriedExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { answerCommand, OP_PROBLEMS } from './answer-command.ts'
import { describeCommandAnswers } from './command-answers.ts'
import { opParameters } from './op-parameters.ts'

export const retryOpOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/ops/{branchId}/{op}/retry',
  id: 'retryOp',
  tag: 'transactions',
  access: ['operate', 'admin'],
  summary: 'Call one op now that waits for its back-off',
  description: 'The waits of other ops stay as they are.',
  parameters: opParameters,
  body: { schema: 'CommandRequest', required: false, examples: { reason: commandExample } },
  answers: describeCommandAnswers(finishedExample, retriedExample),
  problems: [...OP_PROBLEMS, 'SAGA_PAUSED'],
}

export function buildRetryOpRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addRetryOpRoute(app: FastifyInstance): Promise<void> {
    await answerCommand(app, {
      path: '/v1/transactions/:gid/ops/:branchId/:op/retry',
      access: retryOpOperation.access,
      handlerTimeoutMs,
      async run(request) {
        const { branchId, op } = readOp(request)
        return engine.retryOp(readGid(request), branchId, op, readCommandBody(request).given)
      },
    })
  }
}
