import type { EngineApi } from '@counterstep/engine'
import { BODY_BYTES_MAX, type SkipRequest } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'
import { readCommandBody } from '../http/command-body.ts'
import { readGid } from '../http/read-gid.ts'
import { readOp } from '../http/read-op.ts'
import { finishedExample, skippedExample, skipRequestExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { answerCommand, OP_PROBLEMS } from './answer-command.ts'
import { describeCommandAnswers } from './command-answers.ts'
import { opParameters } from './op-parameters.ts'

export const skipOpOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/ops/{branchId}/{op}/skip',
  id: 'skipOp',
  tag: 'transactions',
  access: ['admin'],
  summary: 'Declare an op done',
  description:
    'The transaction goes on as if the op had answered success. If a person has done an action by hand, a person must also undo it: its compensation is never called, and waits until it is skipped, too. While the op is being called, or another node runs the transaction, this waits up to 5 s.',
  parameters: opParameters,
  body: { schema: 'SkipRequest', required: true, examples: { service: skipRequestExample } },
  answers: describeCommandAnswers(finishedExample, skippedExample),
  problems: [...OP_PROBLEMS, 'SAGA_REASON_REQUIRED', 'SAGA_CONFIRMATION_REQUIRED', 'SAGA_OP_BUSY'],
}

export function buildSkipOpRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addSkipOpRoute(app: FastifyInstance): Promise<void> {
    await answerCommand(app, {
      path: '/v1/transactions/:gid/ops/:branchId/:op/skip',
      access: skipOpOperation.access,
      handlerTimeoutMs,
      bodyBytesMax: BODY_BYTES_MAX,
      async run(request) {
        const { branchId, op } = readOp(request)
        const { given, own } = readCommandBody(request, ['confirm', 'doneBy', 'answer'])
        // The engine checks the words.
        const options = own as unknown as Pick<SkipRequest, 'doneBy' | 'answer'>
        return engine.skip(readGid(request), branchId, op, options, given)
      },
    })
  }
}
