import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { readReason, takeAbortBody } from '../http/abort-body.ts'
import { readWaitSeconds } from '../http/prefer.ts'
import { readGid } from '../http/read-gid.ts'
import { sendView } from '../http/send-view.ts'
import { abortedExample, abortingExample, abortRequestExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { COMMAND_PROBLEMS } from './answer-command.ts'
import { gidParameter } from './gid-parameter.ts'
import { placeAndPreference, preferenceApplied } from './prefer-parameter.ts'

export const abortOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/abort',
  id: 'abortTransaction',
  tag: 'transactions',
  access: ['submit', 'admin'],
  summary: 'Abort a transaction',
  description:
    'The decision is durable when this is answered; the compensations of a saga or the cancels of a TCC follow. A TCC and a message can be aborted while they are prepared.',
  parameters: [gidParameter],
  takesPrefer: true,
  body: { schema: 'AbortRequest', required: false, examples: { reason: abortRequestExample } },
  answers: {
    200: {
      description: 'The decision is durable, and the transaction is final.',
      schema: 'TransactionView',
      example: abortedExample,
      headers: preferenceApplied,
    },
    202: {
      description: 'The decision is durable, and the transaction goes on.',
      schema: 'TransactionView',
      example: abortingExample,
      headers: placeAndPreference,
    },
  },
  problems: [
    ...COMMAND_PROBLEMS,
    'SAGA_MALFORMED_JSON',
    'SAGA_UNKNOWN_FIELD',
    'SAGA_NUMBER_NOT_EXACT',
    'SAGA_NOT_PREPARED',
    'SAGA_NO_RETURN',
  ],
}

export function buildAbortRoute(engine: EngineApi, waitMsMax?: number) {
  return async function addAbortRoute(app: FastifyInstance): Promise<void> {
    takeAbortBody(app)
    const config = { access: abortOperation.access }
    app.post('/v1/transactions/:gid/abort', { config }, async function abort(request, reply) {
      const gid = readGid(request)
      const reason = readReason(request.body)
      const waitSeconds = readWaitSeconds(request.headers.prefer, waitMsMax)
      const view = await engine.abort(gid, {
        ...(reason === undefined ? {} : { reason }),
        ...(waitSeconds === undefined ? {} : { waitMs: waitSeconds * 1000 }),
      })
      return sendView(reply, view, waitSeconds)
    })
  }
}
