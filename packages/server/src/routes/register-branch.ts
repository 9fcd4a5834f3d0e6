import { type Gate, readCaller } from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { createMediaTypeError, takeBody, takeJson } from '../http/json-body.ts'
import { JSON_TYPE } from '../http/json-type.ts'
import { readGid } from '../http/read-gid.ts'
import { toViewForCaller } from '../http/view-for-caller.ts'
import { registeredExample, registrationExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { gidParameter } from './gid-parameter.ts'

export const registerBranchOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/branches',
  id: 'registerBranch',
  tag: 'transactions',
  access: ['submit'],
  summary: 'Register a branch of a prepared TCC',
  description:
    'Register a branch before its client tries it: a registered branch is confirmed or cancelled later, and one that is not registered stays as it was tried. Registering the same branch again changes nothing. A key with the scope submit alone is shown how far the branches are, and no answer of theirs.',
  parameters: [gidParameter],
  body: { schema: 'TccBranchRequest', required: true, examples: { hotel: registrationExample } },
  answers: {
    200: {
      description: 'The branch is durable, and may be tried.',
      schema: 'TransactionView',
      example: registeredExample,
    },
  },
  problems: [
    'SAGA_MALFORMED_JSON',
    'SAGA_UNSUPPORTED_MEDIA_TYPE',
    'SAGA_BODY_TOO_LARGE',
    'SAGA_GID_INVALID',
    'SAGA_INVALID',
    'SAGA_UNKNOWN_FIELD',
    'SAGA_BRANCH_ID_INVALID',
    'SAGA_URL_INVALID',
    'SAGA_TARGET_NOT_ALLOWED',
    'SAGA_HEADER_INVALID',
    'SAGA_PAYLOAD_TOO_LARGE',
    'SAGA_PAYLOAD_TOO_DEEP',
    'SAGA_NUMBER_NOT_EXACT',
    'SAGA_RETRY_INVALID',
    'SAGA_TIMEOUT_INVALID',
    'SAGA_TOO_MANY_BRANCHES',
    'SAGA_UNKNOWN_GID',
    'SAGA_NOT_PREPARED',
    'SAGA_WRONG_KIND',
    'SAGA_BRANCH_CONFLICT',
    'SAGA_QUOTA_EXCEEDED',
    'SAGA_CONTENDED',
    'SAGA_OVER_CAPACITY',
    'SAGA_STORE_UNAVAILABLE',
    'SAGA_STORE_CLOSED',
  ],
}

export function buildRegisterBranchRoute(engine: EngineApi, gate: Gate, handlerTimeoutMs: number) {
  return async function addRegisterBranchRoute(app: FastifyInstance): Promise<void> {
    takeJson(app)
    const path = '/v1/transactions/:gid/branches'
    const config = { access: registerBranchOperation.access, stores: 'branch' } as const
    app.post(
      path,
      { config, handlerTimeout: handlerTimeoutMs },
      async function registerBranch(request, reply) {
        if (request.headers['content-type'] === undefined) throw createMediaTypeError()
        const view = await engine.registerBranch(readGid(request), takeBody(request), readCaller(request.raw))
        const shown = toViewForCaller(gate, request.raw, view)
        return reply.header('content-type', JSON_TYPE).send(JSON.stringify(shown))
      },
    )
  }
}
