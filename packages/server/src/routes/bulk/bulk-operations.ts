import type { BulkPreview, BulkRequest, BulkView } from '@counterstep/protocol'
import type { JsonObject, Operation } from '../../openapi/operation.ts'

const STORE_PROBLEMS = ['SAGA_STORE_UNAVAILABLE', 'SAGA_STORE_CLOSED'] as const

const requestExample: BulkRequest = {
  command: 'retry',
  filter: 'attention=true&problem=bank-a%20compensate%20500',
  reason: 'bank-a is mended',
}

export const bulkExample: BulkView = {
  id: 'aklmbcdefghijnop',
  command: 'retry',
  reason: 'bank-a is mended',
  by: { key: { id: 'k1', name: 'ops' }, via: 'api' },
  createdAt: 1_700_000_000_000,
  filter: 'attention=true&problem=bank-a%20compensate%20500',
  ratePerSecond: 20,
  canary: 10,
  state: 'running',
  stateSince: 1_700_000_004_000,
  counts: {
    total: 128,
    waiting: 88,
    given: 39,
    gotOn: 37,
    failedAgain: 0,
    notAnswered: 2,
    refused: 1,
    refusedBy: { SAGA_ALREADY_FINAL: 1 },
    refusals: [{ gid: 'order-4711', code: 'SAGA_ALREADY_FINAL' }],
    gone: 0,
  },
}

export const bulkPreviewExample: BulkPreview = {
  count: 128,
  isExact: true,
  oldestAt: 1_699_999_000_000,
  groups: [{ problem: 'bank-a compensate 500', name: 'transfer', count: 128 }],
  samples: ['order-4711', 'order-4715'],
  previewed: 'Rk3f0aJxT9bQ2w_Z',
}

const idParameter: JsonObject = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the job.',
  schema: { type: 'string', pattern: '^[a-p]{16}$' },
}

export const startBulkOperation: Operation = {
  method: 'post',
  path: '/v1/bulk',
  id: 'startBulk',
  tag: 'operations',
  access: ['operate', 'admin'],
  summary: 'Give one command to many transactions',
  description:
    'The list of transactions is fixed now, and with the `previewed` of a preview it was fixed there. The first few get the command alone; the others follow once these have got on. Any node goes on with the job after a crash.',
  parameters: [
    {
      name: 'dryRun',
      in: 'query',
      description: 'true: say which transactions it would act on, and change nothing.',
      schema: { type: 'boolean' },
    },
  ],
  body: { schema: 'BulkRequest', required: true, examples: { retry: requestExample } },
  answers: {
    200: { description: 'What a job would act on.', schema: 'BulkPreview', example: bulkPreviewExample },
    202: { description: 'The job is durable.', schema: 'BulkView', example: bulkExample },
  },
  problems: [
    'SAGA_MALFORMED_JSON',
    'SAGA_UNSUPPORTED_MEDIA_TYPE',
    'SAGA_BODY_TOO_LARGE',
    'SAGA_INVALID',
    'SAGA_UNKNOWN_FIELD',
    'SAGA_NUMBER_NOT_EXACT',
    'SAGA_BULK_INVALID',
    'SAGA_QUERY_INVALID',
    'SAGA_TOO_MANY_JOBS',
    'SAGA_CONTENDED',
    'SAGA_TOO_MANY_READS',
    ...STORE_PROBLEMS,
  ],
}

export const listBulkOperation: Operation = {
  method: 'get',
  path: '/v1/bulk',
  id: 'listBulk',
  tag: 'operations',
  access: ['read'],
  summary: 'List bulk jobs, newest first',
  answers: {
    200: { description: 'All jobs.', schema: 'BulkListView', example: { items: [bulkExample] } },
  },
  problems: ['SAGA_TOO_MANY_READS', ...STORE_PROBLEMS],
}

export const showBulkOperation: Operation = {
  method: 'get',
  path: '/v1/bulk/{id}',
  id: 'showBulk',
  tag: 'operations',
  access: ['read'],
  summary: 'Show a bulk job with its counts',
  parameters: [idParameter],
  answers: { 200: { description: 'The job.', schema: 'BulkView', example: bulkExample } },
  problems: ['SAGA_UNKNOWN_JOB', 'SAGA_TOO_MANY_READS', ...STORE_PROBLEMS],
}

export const BULK_JOB_COMMANDS = ['pause', 'resume', 'cancel'] as const
export type BulkJobCommand = (typeof BULK_JOB_COMMANDS)[number]

const SUMMARIES: Readonly<Record<BulkJobCommand, string>> = {
  pause: 'Let a bulk job give no more commands',
  resume: 'Let a paused bulk job go on',
  cancel: 'End a bulk job. What it has commanded stays',
}

export const bulkJobOperations: readonly Operation[] = BULK_JOB_COMMANDS.map((command) => ({
  method: 'post',
  path: `/v1/bulk/{id}/${command}`,
  id: `${command}Bulk`,
  tag: 'operations',
  access: ['operate', 'admin'],
  summary: SUMMARIES[command],
  parameters: [idParameter],
  answers: { 200: { description: 'The job.', schema: 'BulkView', example: bulkExample } },
  problems: [
    'SAGA_INVALID',
    'SAGA_BODY_TOO_LARGE',
    'SAGA_UNSUPPORTED_MEDIA_TYPE',
    'SAGA_UNKNOWN_JOB',
    'SAGA_JOB_ENDED',
    'SAGA_CONTENDED',
    'SAGA_TOO_MANY_READS',
    ...STORE_PROBLEMS,
  ],
}))
