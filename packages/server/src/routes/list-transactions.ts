import { readCaller } from '@counterstep/access'
import { LIST_SCAN_MAX, LIST_SCAN_MS_MAX } from '@counterstep/core'
import type { EngineApi } from '@counterstep/engine'
import {
  KINDS,
  LIST_LIMIT_MAX,
  PROBLEM_LENGTH_MAX,
  STATUSES,
  TAGS_MAX,
  type TransactionPage,
} from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import { writeCursor } from '../http/list-cursor.ts'
import { LIST_LIMIT_DEFAULT, readListQuery } from '../http/list-query.ts'
import { LIST_ORDERS } from '../http/read-filters.ts'
import { pageExample } from '../openapi/examples.ts'
import type { JsonObject, Operation } from '../openapi/operation.ts'

const instant = { type: 'integer', minimum: 0 }
const onlyTrue = { type: 'string', enum: ['true'] }

export const listTransactionsOperation: Operation = {
  method: 'get',
  path: '/v1/transactions',
  id: 'listTransactions',
  tag: 'transactions',
  access: ['read'],
  summary: 'List transactions',
  description: `In the order created a search looks through the newest accepts, with a tag only through those that have it, in the orders due and -due through the unfinished ones alone. A page looks at ${LIST_SCAN_MAX} rows at most, and goes no further after about ${LIST_SCAN_MS_MAX} ms, so it may be short and still have a cursor; searchedTo then tells how far it has come.`,
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
    buildFilter('gid', { type: 'string' }, 'A gid, or its beginning followed by *.'),
    buildFilter('name', { type: 'string' }, 'Its name is this one.'),
    {
      ...buildFilter('tag', { type: 'array', items: { type: 'string' }, maxItems: TAGS_MAX }),
      description: 'KEY:VALUE. It has each of these tags; the parameter may be repeated.',
      explode: true,
    },
    buildFilter(
      'problem',
      { type: 'string', maxLength: PROBLEM_LENGTH_MAX },
      'It waits for this, as GET /v1/problems names it.',
    ),
    buildFilter('paused', onlyTrue, 'An operator has paused it.'),
    buildFilter('byHand', onlyTrue, 'An op of it was declared done by a person.'),
    buildFilter('edited', onlyTrue, 'An operator has changed a request of it.'),
    buildFilter('createdFrom', instant, 'Milliseconds from the epoch, inclusive.'),
    buildFilter('createdTo', instant, 'Milliseconds from the epoch, exclusive.'),
    buildFilter(
      'order',
      { type: 'string', enum: Object.keys(LIST_ORDERS), default: 'created' },
      'created: the newest accept first. due: unfinished ones, the one that is due first first. -due: the other way round.',
    ),
    buildFilter('limit', {
      type: 'integer',
      minimum: 1,
      maximum: LIST_LIMIT_MAX,
      default: LIST_LIMIT_DEFAULT,
    }),
    buildFilter(
      'cursor',
      { type: 'string' },
      'From the page before, with the same filters and the same order.',
    ),
  ],
  answers: { 200: { description: 'A page.', schema: 'TransactionPage', example: pageExample } },
  problems: ['SAGA_QUERY_INVALID', 'SAGA_TOO_MANY_READS', 'SAGA_STORE_UNAVAILABLE', 'SAGA_STORE_CLOSED'],
}

/** A page that is short although more may follow tells how far the search has come. */
function toPage({ items, cursor }: Awaited<ReturnType<EngineApi['list']>>, limit: number): TransactionPage {
  return {
    items,
    ...(cursor === undefined ? {} : { cursor: writeCursor(cursor) }),
    ...(cursor === undefined || items.length >= limit ? {} : { searchedTo: cursor.at }),
  }
}

function buildFilter(name: string, schema: JsonObject, description?: string): JsonObject {
  return { name, in: 'query', ...(description === undefined ? {} : { description }), schema }
}

export function buildListTransactionsRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addListTransactionsRoute(app: FastifyInstance): Promise<void> {
    const config = { access: listTransactionsOperation.access }
    const options = { config, handlerTimeout: handlerTimeoutMs }
    app.get('/v1/transactions', options, async function listTransactions(request, reply) {
      const query = readListQuery(request.query)
      const page = toPage(await engine.list(query, readCaller(request.raw)), query.limit)
      return reply.header('content-type', JSON_TYPE).send(JSON.stringify(page))
    })
  }
}
