import { readActor, readCaller } from '@counterstep/access'
import { type EngineApi, type Logger, toUnknownGidError } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import { readGid } from '../http/read-gid.ts'
import { requestExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { gidParameter } from './gid-parameter.ts'

export const showRequestOperation: Operation = {
  method: 'get',
  path: '/v1/transactions/{gid}/request',
  id: 'showRequest',
  tag: 'transactions',
  access: ['payloads'],
  summary: 'Read the requests of a transaction',
  description:
    'They may hold secrets, so each reading is logged with the key that asked for it. Beyond 2 MiB of requests the further ones are short: without their bodies and headers.',
  parameters: [gidParameter],
  answers: {
    200: {
      description: 'What the branches are called with.',
      schema: 'TransactionRequestView',
      example: requestExample,
    },
  },
  problems: [
    'SAGA_GID_INVALID',
    'SAGA_UNKNOWN_GID',
    'SAGA_TOO_MANY_READS',
    'SAGA_STORE_UNAVAILABLE',
    'SAGA_STORE_CLOSED',
  ],
}

export function buildShowRequestRoute(engine: EngineApi, logger: Logger, handlerTimeoutMs: number) {
  return async function addShowRequestRoute(app: FastifyInstance): Promise<void> {
    const config = { access: showRequestOperation.access }
    const options = { config, handlerTimeout: handlerTimeoutMs }
    app.get('/v1/transactions/:gid/request', options, async function showRequest(request, reply) {
      const gid = readGid(request)
      const json = await engine.showRequest(gid, readCaller(request.raw))
      if (json === undefined) throw toUnknownGidError(gid)
      const { key, person, via } = readActor(request.raw)
      logger.info({ gid, via, key: key?.id, keyName: key?.name, person }, 'request-shown')
      return reply.header('content-type', JSON_TYPE).send(json)
    })
  }
}
