import { setImmediate } from 'node:timers/promises'
import { buildQuotaCheck, type Gate, readCaller } from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { createMediaTypeError, takeBody, takeJson } from '../http/json-body.ts'
import { readWaitSeconds } from '../http/prefer.ts'
import { sendView } from '../http/send-view.ts'
import { toViewForCaller } from '../http/view-for-caller.ts'
import { toWaitOptions } from '../http/wait-options.ts'
import {
  acceptedExample,
  finishedSubmitExample,
  messageExample,
  submitExample,
  tccExample,
  workflowExample,
} from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { placeAndPreference, preferenceApplied } from './prefer-parameter.ts'

export const submitOperation: Operation = {
  method: 'post',
  path: '/v1/transactions',
  id: 'submitTransaction',
  tag: 'transactions',
  access: ['submit'],
  summary: 'Submit a transaction',
  description:
    'The transaction is stored before it is answered. The same gid with the same content is the same transaction, so a submit may be repeated. A TCC, and a message with a check, is accepted as prepared, and a wait for it ends at once. A workflow is taken only where the server accepts new kinds; elsewhere it is SAGA_KIND_UNSUPPORTED.',
  takesPrefer: true,
  body: {
    schema: 'SubmitRequest',
    required: true,
    examples: {
      saga: submitExample,
      tcc: tccExample,
      message: messageExample,
      workflow: workflowExample,
    },
  },
  answers: {
    200: {
      description: 'The transaction is final.',
      schema: 'SubmitView',
      example: finishedSubmitExample,
      headers: preferenceApplied,
    },
    202: {
      description: 'The transaction was accepted and goes on.',
      schema: 'SubmitView',
      example: acceptedExample,
      headers: placeAndPreference,
    },
  },
  problems: [
    'SAGA_MALFORMED_JSON',
    'SAGA_UNSUPPORTED_MEDIA_TYPE',
    'SAGA_BODY_TOO_LARGE',
    'SAGA_INVALID',
    'SAGA_UNKNOWN_FIELD',
    'SAGA_KIND_UNSUPPORTED',
    'SAGA_GID_INVALID',
    'SAGA_NAME_INVALID',
    'SAGA_TAG_INVALID',
    'SAGA_NO_BRANCHES',
    'SAGA_TOO_MANY_BRANCHES',
    'SAGA_BRANCH_ID_INVALID',
    'SAGA_BRANCH_ID_DUPLICATE',
    'SAGA_AFTER_UNKNOWN',
    'SAGA_AFTER_CYCLE',
    'SAGA_URL_INVALID',
    'SAGA_TARGET_NOT_ALLOWED',
    'SAGA_HEADER_INVALID',
    'SAGA_PAYLOAD_TOO_LARGE',
    'SAGA_PAYLOAD_TOO_DEEP',
    'SAGA_NUMBER_NOT_EXACT',
    'SAGA_RETRY_INVALID',
    'SAGA_TIMEOUT_INVALID',
    'SAGA_DEADLINE_INVALID',
    'SAGA_DELAY_INVALID',
    'SAGA_CHECKPOINT_INVALID',
    'SAGA_ACK_INVALID',
    'SAGA_REFERENCE_INVALID',
    'SAGA_REFERENCE_UNKNOWN',
    'SAGA_REFERENCE_NOT_BEFORE',
    'SAGA_REFERENCE_NEEDS_ELSE',
    'SAGA_WAIT_INVALID',
    'SAGA_ROLE_INVALID',
    'SAGA_WORKFLOW_INVALID',
    'SAGA_GID_CONFLICT',
    'SAGA_QUOTA_EXCEEDED',
    'SAGA_OVER_CAPACITY',
    'SAGA_STORE_FULL',
    'SAGA_TARGET_OVER_CAPACITY',
    'SAGA_NOT_ACCEPTED',
    'SAGA_OUTCOME_UNKNOWN',
    'SAGA_STORE_UNAVAILABLE',
    'SAGA_STORE_CLOSED',
  ],
}

/** Builds the busiest route. No schema runs on it, since the engine checks the body, and the answer is written once. */
export function buildSubmitRoute(
  engine: EngineApi,
  gate: Pick<Gate, 'takeStored' | 'allowsScope'>,
  waitMsMax?: number,
) {
  return async function addSubmitRoute(app: FastifyInstance): Promise<void> {
    takeJson(app)
    const config = { access: submitOperation.access, stores: 'transaction' } as const
    app.post('/v1/transactions', { config }, async function submit(request, reply) {
      const { prefer, traceparent, tracestate } = request.headers
      if (request.headers['content-type'] === undefined) throw createMediaTypeError()
      const waitSeconds = readWaitSeconds(prefer, waitMsMax)
      const options = {
        ...toWaitOptions(waitSeconds, reply),
        takeBytes: buildQuotaCheck(gate, request, reply),
        trace: { traceparent, tracestate },
        caller: readCaller(request.raw),
      }
      // All submits that one turn of the event loop has read reach the engine together, and so share a write of the
      // store.
      await setImmediate()
      const view = await engine.submit(takeBody(request), options)
      // The content of a TCC is its kind alone, so a caller that knows its gid may submit it again.
      const shown = view.kind === 'tcc' ? toViewForCaller(gate, request.raw, view) : view
      return sendView(reply, shown, waitSeconds)
    })
  }
}
