/**
 * The one reading of a submit, for every host. The HTTP schemas describe what this accepts; a test compares them.
 * By hand, because it is on the hot path and a schema library would be paid for on every request.
 */
import {
  BRANCHES_MAX,
  CHECKPOINT_MS_MAX,
  DEADLINE_MS_MAX,
  DELAY_MS_MAX,
  type ErrorCode,
  type Fault,
  GID_RULE,
  type Gid,
  isGid,
  type JsonValue,
  type RetryPolicy,
  TIMEOUT_MS_MAX,
} from '@counterstep/protocol'
import { canonicalJson } from '../canonical-json.ts'
import type { SagaDefinition } from '../definition.ts'
import { Faults, isRecord, readInteger, refuseUnknownFields } from './faults.ts'
import { orderBranches } from './order-branches.ts'
import { type CheckUrl, parseBranch } from './parse-branch.ts'
import { parseHeaders } from './parse-headers.ts'
import { parseRetry } from './parse-retry.ts'

/** What a request that does not say gets. */
export interface SubmissionDefaults {
  readonly retry: RetryPolicy
  readonly timeoutMs: number
  readonly checkpointMs: number
}

export interface Submission {
  readonly gid?: Gid
  readonly ack: 'durable' | 'memory'
  /** The request's own fields, canonical: equal texts are the same content. */
  readonly content: string
  readonly definition: SagaDefinition
}

export type ParsedSubmission =
  | { readonly type: 'parsed'; readonly submission: Submission }
  | { readonly type: 'refused'; readonly faults: readonly [Fault, ...Fault[]] }

const FIELDS = new Set([
  'gid',
  'kind',
  'branches',
  'retry',
  'timeoutMs',
  'deadlineMs',
  'delayMs',
  'checkpointMs',
  'headers',
  'ack',
])

export function parseSubmission(
  body: unknown,
  defaults: SubmissionDefaults,
  checkUrl: CheckUrl,
): ParsedSubmission {
  const faults = new Faults()
  const submission = isRecord(body)
    ? readSubmission(body, defaults, checkUrl, faults)
    : faults.add('SAGA_INVALID', '', 'must be a JSON object')
  const [first, ...others] = faults.list
  if (first !== undefined) return { type: 'refused', faults: [first, ...others] }
  if (submission === undefined) return refusal('SAGA_INVALID', '', 'cannot be read')
  return { type: 'parsed', submission }
}

function refusal(code: Fault['code'], path: string, message: string): ParsedSubmission {
  return { type: 'refused', faults: [{ code, path, message }] }
}

type Body = Readonly<Record<string, unknown>>

function readSubmission(
  body: Body,
  defaults: SubmissionDefaults,
  checkUrl: CheckUrl,
  faults: Faults,
): Submission | undefined {
  refuseUnknownFields(body, FIELDS, '', faults)
  const { gid, ack, ...own } = body
  const content = canonicalJson(own as { readonly [key: string]: JsonValue })
  if (content === undefined) return faults.add('SAGA_PAYLOAD_TOO_DEEP', '', 'is nested too deep')
  if (gid !== undefined && !isGid(gid)) {
    faults.add('SAGA_GID_INVALID', '/gid', GID_RULE)
  }
  if (body.kind !== undefined && body.kind !== 'saga') {
    faults.add('SAGA_KIND_UNSUPPORTED', '/kind', 'must be "saga"')
  }
  if (ack !== undefined && ack !== 'durable' && ack !== 'memory') {
    faults.add('SAGA_ACK_INVALID', '/ack', 'must be "durable" or "memory"')
  }
  const definition = readDefinition(body, defaults, checkUrl, faults)
  return {
    ...(isGid(gid) ? { gid } : {}),
    ack: ack === 'memory' ? 'memory' : 'durable',
    content,
    definition,
  }
}

function readDefinition(
  body: Body,
  defaults: SubmissionDefaults,
  checkUrl: CheckUrl,
  faults: Faults,
): SagaDefinition {
  const retry = parseRetry(body.retry, defaults.retry, '/retry', faults)
  const headers = parseHeaders(body.headers, '/headers', faults)
  const integer = (field: string, code: ErrorCode, min: number, max: number) =>
    readInteger(body[field], { min, max }, { code, path: `/${field}` }, faults)
  const timeoutMs = integer('timeoutMs', 'SAGA_TIMEOUT_INVALID', 1, TIMEOUT_MS_MAX)
  const deadlineMs = integer('deadlineMs', 'SAGA_DEADLINE_INVALID', 1, DEADLINE_MS_MAX)
  const delayMs = integer('delayMs', 'SAGA_DELAY_INVALID', 0, DELAY_MS_MAX)
  const checkpointMs = integer('checkpointMs', 'SAGA_CHECKPOINT_INVALID', 0, CHECKPOINT_MS_MAX)
  return {
    kind: 'saga',
    branches: readBranches(body.branches, { retry, headers, checkUrl, faults }),
    retry,
    timeoutMs: timeoutMs ?? defaults.timeoutMs,
    checkpointMs: checkpointMs ?? defaults.checkpointMs,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(delayMs === undefined || delayMs === 0 ? {} : { delayMs }),
  }
}

function readBranches(
  value: unknown,
  context: Parameters<typeof parseBranch>[2],
): SagaDefinition['branches'] {
  const { faults } = context
  if (value === undefined) faults.add('SAGA_NO_BRANCHES', '/branches', 'is required')
  else if (!Array.isArray(value)) faults.add('SAGA_INVALID', '/branches', 'must be a list')
  else if (value.length === 0) faults.add('SAGA_NO_BRANCHES', '/branches', 'must not be empty')
  else if (value.length > BRANCHES_MAX) {
    faults.add('SAGA_TOO_MANY_BRANCHES', '/branches', `must not be more than ${BRANCHES_MAX}`)
  } else {
    const parsed = value.flatMap((branch: unknown, position) => parseBranch(branch, position, context) ?? [])
    // Positions are right only when every branch could be read.
    return parsed.length === value.length ? orderBranches(parsed, faults) : []
  }
  return []
}
