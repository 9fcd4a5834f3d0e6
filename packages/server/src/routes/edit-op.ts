import type { EngineApi } from '@counterstep/engine'
import { BODY_BYTES_MAX } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'
import { readCommandBody } from '../http/command-body.ts'
import { readGid } from '../http/read-gid.ts'
import { readOp } from '../http/read-op.ts'
import { editedExample, editRequestExample, finishedExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { answerCommand, OP_PROBLEMS } from './answer-command.ts'
import { describeCommandAnswers } from './command-answers.ts'
import { opParameters } from './op-parameters.ts'

const FIELDS = ['confirm', 'url', 'payload', 'body', 'contentType', 'headers', 'timeoutMs', 'retry']

export const editOpOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/ops/{branchId}/{op}/edit',
  id: 'editOp',
  tag: 'transactions',
  access: { all: ['admin', 'payloads'] },
  summary: 'Change the request of an op',
  description:
    'Its counters and waits begin anew, and it is due now. The submitted request stays as it is, with its digest. While the op is being called, or another node runs the transaction, this waits up to 5 s.',
  parameters: opParameters,
  body: { schema: 'EditRequest', required: true, examples: { url: editRequestExample } },
  answers: describeCommandAnswers(finishedExample, editedExample),
  problems: [
    ...OP_PROBLEMS,
    'SAGA_REASON_REQUIRED',
    'SAGA_CONFIRMATION_REQUIRED',
    'SAGA_OP_BUSY',
    'SAGA_EDITS_TOO_LARGE',
    'SAGA_URL_INVALID',
    'SAGA_TARGET_NOT_ALLOWED',
    'SAGA_HEADER_INVALID',
    'SAGA_PAYLOAD_TOO_LARGE',
    'SAGA_PAYLOAD_TOO_DEEP',
    'SAGA_RETRY_INVALID',
    'SAGA_TIMEOUT_INVALID',
    'SAGA_ROLE_INVALID',
  ],
}

export function buildEditOpRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addEditOpRoute(app: FastifyInstance): Promise<void> {
    await answerCommand(app, {
      path: '/v1/transactions/:gid/ops/:branchId/:op/edit',
      access: editOpOperation.access,
      handlerTimeoutMs,
      bodyBytesMax: BODY_BYTES_MAX,
      async run(request) {
        const { branchId, op } = readOp(request)
        const { given, own } = readCommandBody(request, FIELDS)
        return engine.edit(readGid(request), branchId, op, own, given)
      },
    })
  }
}
