import type { EngineApi } from '@counterstep/engine'
import { isFinalStatus } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'
import { takeJson, unsupportedMediaType } from '../http/json-body.ts'
import { JSON_TYPE } from '../http/json-type.ts'
import { waitSecondsOf } from '../http/prefer.ts'
import { acceptedExample, finishedSubmitExample, submitExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'

const preferenceApplied = { 'Preference-Applied': 'wait=N, the seconds that were waited for at most.' }

export const submitOperation: Operation = {
  method: 'post',
  path: '/v1/transactions',
  id: 'submitTransaction',
  tag: 'transactions',
  summary: 'Submit a transaction',
  description:
    'Stored before it is answered. The same gid with the same content is the same transaction, so a submit may be repeated.',
  parameters: [
    {
      name: 'Prefer',
      in: 'header',
      description: 'wait=N (RFC 7240): answer when the transaction is final, or after N seconds (0 to 60).',
      schema: { type: 'string', examples: ['wait=10'] },
    },
  ],
  body: { schema: 'SubmitRequest', required: true, example: submitExample },
  answers: {
    200: {
      description: 'It is in a final state.',
      schema: 'SubmitView',
      example: finishedSubmitExample,
      headers: preferenceApplied,
    },
    202: {
      description: 'It was accepted and goes on.',
      schema: 'SubmitView',
      example: acceptedExample,
      headers: { ...preferenceApplied, Location: 'The path of the transaction.' },
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
    'SAGA_NO_BRANCHES',
    'SAGA_TOO_MANY_BRANCHES',
    'SAGA_BRANCH_ID_INVALID',
    'SAGA_BRANCH_ID_DUPLICATE',
    'SAGA_AFTER_UNKNOWN',
    'SAGA_AFTER_CYCLE',
    'SAGA_URL_INVALID',
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
    'SAGA_GID_CONFLICT',
    'SAGA_OVER_CAPACITY',
    'SAGA_NOT_ACCEPTED',
    'SAGA_OUTCOME_UNKNOWN',
    'SAGA_STORE_UNAVAILABLE',
    'SAGA_STORE_CLOSED',
  ],
}

/** The hot route: the engine checks the body by itself, and the answer is written once. */
export function submitRoute(engine: EngineApi) {
  return async function submitPlugin(app: FastifyInstance): Promise<void> {
    takeJson(app)
    app.post('/v1/transactions', async function submit(request, reply) {
      if (request.headers['content-type'] === undefined) throw unsupportedMediaType()
      const waitSeconds = waitSecondsOf(request.headers.prefer)
      const options = waitSeconds === undefined ? undefined : { waitMs: waitSeconds * 1000 }
      const view = await engine.submit(request.body, options)
      if (waitSeconds !== undefined) reply.header('preference-applied', `wait=${waitSeconds}`)
      if (!isFinalStatus(view.status)) {
        reply.code(202).header('location', `/v1/transactions/${encodeURIComponent(view.gid)}`)
      }
      return reply.header('content-type', JSON_TYPE).send(JSON.stringify(view))
    })
  }
}
