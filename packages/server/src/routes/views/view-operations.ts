import type { ErrorCode, SavedView } from '@counterstep/protocol'
import type { Operation } from '../../openapi/operation.ts'

export const savedViewExample: SavedView = {
  id: '3f2a9c0d1e4b5a67',
  name: 'EU payouts that wait',
  filter: 'name=payout&tag=region:eu&retrying=true&order=due',
  by: { key: { id: 'k3v9x2m7q1ab', name: 'ops' }, person: 'kim', via: 'console' },
  savedAt: 1_795_132_860_000,
}

const STORE_PROBLEMS: readonly ErrorCode[] = ['SAGA_STORE_UNAVAILABLE', 'SAGA_STORE_CLOSED']

export const listViewsOperation: Operation = {
  method: 'get',
  path: '/v1/views',
  id: 'listViews',
  tag: 'operations',
  access: ['read'],
  summary: 'List the saved views of the list',
  answers: {
    200: { description: 'All views.', schema: 'SavedViews', example: { items: [savedViewExample] } },
  },
  problems: ['SAGA_TOO_MANY_READS', ...STORE_PROBLEMS],
}

export const saveViewOperation: Operation = {
  method: 'post',
  path: '/v1/views',
  id: 'saveView',
  tag: 'operations',
  access: ['operate', 'admin'],
  summary: 'Save a filter of the list under a name, for all',
  description: 'A view of the same name is replaced. There are 100 at most.',
  body: {
    schema: 'SavedViewRequest',
    required: true,
    examples: { view: { name: savedViewExample.name, filter: savedViewExample.filter } },
  },
  answers: { 200: { description: 'It is durable.', schema: 'SavedView', example: savedViewExample } },
  problems: [
    'SAGA_MALFORMED_JSON',
    'SAGA_UNSUPPORTED_MEDIA_TYPE',
    'SAGA_BODY_TOO_LARGE',
    'SAGA_NUMBER_NOT_EXACT',
    'SAGA_INVALID',
    'SAGA_UNKNOWN_FIELD',
    'SAGA_VIEW_INVALID',
    'SAGA_QUERY_INVALID',
    'SAGA_TOO_MANY_VIEWS',
    'SAGA_CONTENDED',
    ...STORE_PROBLEMS,
  ],
}

export const removeViewOperation: Operation = {
  method: 'delete',
  path: '/v1/views/{id}',
  id: 'removeView',
  tag: 'operations',
  access: ['operate', 'admin'],
  summary: 'Remove a saved view',
  parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 16 } }],
  answers: {
    200: { description: 'The views that are left.', schema: 'SavedViews', example: { items: [] } },
  },
  problems: [
    'SAGA_INVALID',
    'SAGA_BODY_TOO_LARGE',
    'SAGA_UNSUPPORTED_MEDIA_TYPE',
    'SAGA_UNKNOWN_VIEW',
    'SAGA_TOO_MANY_READS',
    'SAGA_CONTENDED',
    ...STORE_PROBLEMS,
  ],
}
