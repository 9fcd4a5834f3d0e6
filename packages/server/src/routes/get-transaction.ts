import { readCaller } from '@counterstep/access'
import { type EngineApi, toUnknownGidError } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import { readGid } from '../http/read-gid.ts'
import { finishedExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { gidParameter } from './gid-parameter.ts'

export const getTransactionOperation: Operation = {
  method: 'get',
  path: '/v1/transactions/{gid}',
  id: 'getTransaction',
  tag: 'transactions',
  access: ['read'],
  summary: 'Read a transaction',
  description:
    'A final status is shown only when it is durable. Progress shown before that may go back after a crash.',
  parameters: [gidParameter],
  answers: { 200: { description: 'The transaction.', schema: 'TransactionView', example: finishedExample } },
  problems: [
    'SAGA_GID_INVALID',
    'SAGA_UNKNOWN_GID',
    'SAGA_TOO_MANY_READS',
    'SAGA_STORE_UNAVAILABLE',
    'SAGA_STORE_CLOSED',
  ],
}

export function buildGetTransactionRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addGetTransactionRoute(app: FastifyInstance): Promise<void> {
    const config = { access: getTransactionOperation.access }
    const options = { config, handlerTimeout: handlerTimeoutMs }
    app.get('/v1/transactions/:gid', options, async function getTransaction(request, reply) {
      const gid = readGid(request)
      const view = await engine.show(gid, readCaller(request.raw))
      if (view === undefined) throw toUnknownGidError(gid)
      return reply.header('content-type', JSON_TYPE).send(JSON.stringify(view))
    })
  }
}
