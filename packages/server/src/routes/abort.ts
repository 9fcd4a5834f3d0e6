import { type Gate, type RequestHead, readCaller } from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { type CommandBody, readCommandBody, takeCommandBody } from '../http/command-body.ts'
import { readWaitSeconds } from '../http/prefer.ts'
import { readGid } from '../http/read-gid.ts'
import { sendView } from '../http/send-view.ts'
import { toViewForCaller } from '../http/view-for-caller.ts'
import { toWaitOptions } from '../http/wait-options.ts'
import { abortedExample, abortingExample, abortRequestExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { OPERATOR_PROBLEMS } from './answer-command.ts'
import { gidParameter } from './gid-parameter.ts'
import { placeAndPreference, preferenceApplied } from './prefer-parameter.ts'

export const abortOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/abort',
  id: 'abortTransaction',
  tag: 'transactions',
  access: ['submit', 'operate', 'admin'],
  summary: 'Abort a transaction',
  description:
    'The decision is durable when this is answered; the compensations of a saga or the cancels of a TCC follow. A TCC and a message can be aborted while they are prepared. The abort of an operator, which has a commandId or whose key has the scope operate, is written to the trail. A key with the scope submit alone is shown how far the branches are, and no answer of theirs.',
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
  problems: [...OPERATOR_PROBLEMS, 'SAGA_OVER_CAPACITY', 'SAGA_NOT_PREPARED', 'SAGA_NO_RETURN'],
}

export function buildAbortRoute(engine: EngineApi, gate: Gate, waitMsMax?: number) {
  return async function addAbortRoute(app: FastifyInstance): Promise<void> {
    takeCommandBody(app)
    const config = { access: abortOperation.access }
    app.post('/v1/transactions/:gid/abort', { config }, async function abort(request, reply) {
      const gid = readGid(request)
      const body = readCommandBody(request)
      const { reason } = body.given
      const waitSeconds = readWaitSeconds(request.headers.prefer, waitMsMax)
      const view = await engine.abort(gid, {
        ...(reason === undefined ? {} : { reason }),
        ...(isByOperator(body, gate, request.raw) ? { given: body.given } : {}),
        ...toWaitOptions(waitSeconds, reply),
        caller: readCaller(request.raw),
      })
      return sendView(reply, toViewForCaller(gate, request.raw, view), waitSeconds)
    })
  }
}

/**
 * Tells an operator's abort from that of a client, which is on the path of every TCC and makes no entry in the trail. An
 * operator's program sends a commandId. Without one, only the key can tell.
 */
function isByOperator({ given }: CommandBody, gate: Gate, head: RequestHead): boolean {
  if (given.commandId === undefined) return gate.hasKeys && gate.allowsScope('operate', head)
  return gate.allowsScope('operate', head) || gate.allowsScope('admin', head)
}
