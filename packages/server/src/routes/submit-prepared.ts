import { type Gate, readCaller } from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { takeNoBody } from '../http/no-body.ts'
import { readWaitSeconds } from '../http/prefer.ts'
import { readGid } from '../http/read-gid.ts'
import { sendView } from '../http/send-view.ts'
import { toViewForCaller } from '../http/view-for-caller.ts'
import { toWaitOptions } from '../http/wait-options.ts'
import { confirmedTccExample, submittedTccExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { COMMAND_PROBLEMS } from './answer-command.ts'
import { gidParameter } from './gid-parameter.ts'
import { placeAndPreference, preferenceApplied } from './prefer-parameter.ts'

export const submitPreparedOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/submit',
  id: 'submitPrepared',
  tag: 'transactions',
  access: ['submit'],
  summary: 'Submit what is prepared',
  description:
    'The branches of a TCC are confirmed, and those of a message are called. The decision is durable when this is answered. Submitting again changes nothing. It takes no body. A key with the scope submit alone is shown how far the branches are, and no answer of theirs.',
  parameters: [gidParameter],
  takesPrefer: true,
  answers: {
    200: {
      description: 'The decision is durable, and the transaction is final.',
      schema: 'TransactionView',
      example: confirmedTccExample,
      headers: preferenceApplied,
    },
    202: {
      description: 'The decision is durable, and the transaction goes on.',
      schema: 'TransactionView',
      example: submittedTccExample,
      headers: placeAndPreference,
    },
  },
  problems: [
    // A transaction that was aborted answers SAGA_NOT_PREPARED. One that was submitted before is answered as it is now.
    ...COMMAND_PROBLEMS.filter((code) => code !== 'SAGA_ALREADY_FINAL'),
    'SAGA_OVER_CAPACITY',
    'SAGA_NOT_PREPARED',
    'SAGA_WRONG_KIND',
  ],
}

export function buildSubmitPreparedRoute(engine: EngineApi, gate: Gate, waitMsMax?: number) {
  return async function addSubmitPreparedRoute(app: FastifyInstance): Promise<void> {
    takeNoBody(app)
    const config = { access: submitPreparedOperation.access }
    app.post('/v1/transactions/:gid/submit', { config }, async function submitPrepared(request, reply) {
      const waitSeconds = readWaitSeconds(request.headers.prefer, waitMsMax)
      const options = { ...toWaitOptions(waitSeconds, reply), caller: readCaller(request.raw) }
      const view = await engine.submitPrepared(readGid(request), options)
      return sendView(reply, toViewForCaller(gate, request.raw, view), waitSeconds)
    })
  }
}
