import { readCaller } from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
import { KINDS, LIST_LIMIT_MAX, STATUSES, type TransactionPage } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import { writeCursor } from '../http/list-cursor.ts'
import { LIST_LIMIT_DEFAULT, readListQuery } from '../http/list-query.ts'
import { pageExample } from '../openapi/examples.ts'
import type { JsonObject, Operation } from '../openapi/operation.ts'

const instant = { type: 'integer', minimum: 0 }

export const listTransactionsOperation: Operation = {
  method: 'get',
  path: '/v1/transactions',
  id: 'listTransactions',
  tag: 'transactions',
  access: ['read'],
  summary: 'List transactions, newest first',
  parameters: [
    {
      ...buildFilter('status', { type: 'array', items: { type: 'string', enum: STATUSES } }),
      description:
        'A transaction has one of these. The parameter may be repeated, or its values joined by commas.',
      explode: true,
    },
    buildFilter('kind', { type: 'string', enum: KINDS }),
    buildFilter('retrying', { type: 'boolean' }, 'An op waits to be asked again.'),
    buildFilter('attention', { type: 'boolean' }, 'A person should look at it.'),
    buildFilter('createdFrom', instant, 'Milliseconds from the epoch, inclusive.'),
    buildFilter('createdTo', instant, 'Milliseconds from the epoch, exclusive.'),
    buildFilter('limit', {
      type: 'integer',
      minimum: 1,
      maximum: LIST_LIMIT_MAX,
      default: LIST_LIMIT_DEFAULT,
    }),
    buildFilter('cursor', { type: 'string' }, 'From the page before, with the same filters.'),
  ],
  answers: { 200: { description: 'A page.', schema: 'TransactionPage', example: pageExample } },
  problems: ['SAGA_QUERY_INVALID', 'SAGA_TOO_MANY_READS', 'SAGA_STORE_UNAVAILABLE', 'SAGA_STORE_CLOSED'],
}

function buildFilter(name: string, schema: JsonObject, description?: string): JsonObject {
  return { name, in: 'query', ...(description === undefined ? {} : { description }), schema }
}

export function buildListTransactionsRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addListTransactionsRoute(app: FastifyInstance): Promise<void> {
    const config = { access: listTransactionsOperation.access }
    const options = { config, handlerTimeout: handlerTimeoutMs }
    app.get('/v1/transactions', options, async function listTransactions(request, reply) {
      const { items, cursor } = await engine.list(readListQuery(request.query), readCaller(request.raw))
      const page: TransactionPage = {
        items,
        ...(cursor === undefined ? {} : { cursor: writeCursor(cursor) }),
      }
      return reply.header('content-type', JSON_TYPE).send(JSON.stringify(page))
    })
  }
}
