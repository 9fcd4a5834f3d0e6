/**
 * Reads a submit, for every host. The HTTP schemas describe what this code accepts, and a test compares them. The code is
 * written by hand, because every request comes through here and a schema library would slow each one.
 */
import {
  CHECKPOINT_MS_MAX,
  DEADLINE_MS_MAX,
  DELAY_MS_MAX,
  type ErrorCode,
  GID_RULE,
  type Gid,
  isAlertGid,
  isGid,
  type JsonValue,
  NATIVE_KINDS,
  type NativeKind,
  OPEN_KINDS,
  PREPARED_MS,
  type RetryPolicy,
  TIMEOUT_MS_MAX,
} from '@counterstep/protocol'
import type { Definition, SagaDefinition } from '../definition.ts'
import type { Writable } from '../writable.ts'
import { canonicalJsonWithout } from './canonical-json.ts'
import { refuseLongWaits, refuseWrongRoles } from './check-stages.ts'
import {
  Faults,
  isRecord,
  type Refused,
  readInteger,
  refuseUnknownFields,
  refuseUnreadable,
} from './faults.ts'
import { orderBranches } from './order-branches.ts'
import type { BranchContext, CheckUrl } from './parse-branch.ts'
import { parseHeaders } from './parse-headers.ts'
import { parseNaming } from './parse-naming.ts'
import { parseRetry } from './parse-retry.ts'
import { parseSagaBranch } from './parse-saga-branch.ts'
import { readWorkflow } from './parse-workflow.ts'
import { readList } from './read-list.ts'
import { readMessage } from './read-message.ts'
import { makeAncestorFinder, References, type SagaContext } from './references.ts'

/** The values that a request gets for fields it leaves out. */
export interface SubmissionDefaults {
  readonly retry: RetryPolicy
  readonly timeoutMs: number
  readonly checkpointMs: number
  /** Kinds that only newer nodes can run are accepted too. */
  readonly acceptNewKinds?: boolean
}

export interface Submission {
  readonly gid?: Gid
  readonly ack: 'durable' | 'memory'
  /** The request's own fields as canonical JSON. Equal texts are the same content. */
  readonly content: string
  readonly definition: Definition
}

export type ParsedSubmission = { readonly type: 'parsed'; readonly submission: Submission } | Refused

const COMMON_FIELDS = [
  ...['gid', 'kind', 'name', 'tags'],
  ...['retry', 'timeoutMs', 'checkpointMs', 'headers', 'ack'],
]
const FIELDS: { readonly [kind in NativeKind]: ReadonlySet<string> } = {
  saga: new Set([...COMMON_FIELDS, 'branches', 'deadlineMs', 'delayMs', 'input', 'output']),
  tcc: new Set([...COMMON_FIELDS, 'deadlineMs']),
  message: new Set([...COMMON_FIELDS, 'branches', 'concurrent', 'delayMs', 'check']),
  workflow: new Set([
    ...COMMON_FIELDS,
    ...['workflow', 'handler', 'input', 'version', 'grants', 'deadlineMs', 'delayMs'],
  ]),
}

/**
 * These fields name the transaction, the acknowledgement and the code of a workflow. The same content may come again with
 * other values of them: a caller that starts a workflow again after a deployment means the one that is there.
 */
const NOT_CONTENT: ReadonlySet<string> = new Set(['gid', 'ack', 'version'])

export function parseSubmission(
  body: unknown,
  defaults: SubmissionDefaults,
  checkUrl: CheckUrl,
): ParsedSubmission {
  const faults = new Faults()
  const submission = isRecord(body)
    ? readSubmission(body, defaults, checkUrl, faults)
    : faults.add('SAGA_INVALID', '', 'must be a JSON object')
  const refused = faults.readRefusal()
  if (refused !== undefined) return refused
  if (submission === undefined) return refuseUnreadable()
  return { type: 'parsed', submission }
}

type Body = Readonly<Record<string, unknown>>

function readSubmission(
  body: Body,
  defaults: SubmissionDefaults,
  checkUrl: CheckUrl,
  faults: Faults,
): Submission | undefined {
  const kind = readKind(body.kind, defaults, faults)
  if (kind === undefined) return undefined
  refuseUnknownFields(body, FIELDS[kind], '', faults)
  const { gid, ack } = body
  const content = canonicalJsonWithout(NOT_CONTENT, body as { readonly [key: string]: JsonValue })
  if (content === undefined) return faults.add('SAGA_PAYLOAD_TOO_DEEP', '', 'is nested too deep')
  if (gid !== undefined && !isGid(gid)) {
    faults.add('SAGA_GID_INVALID', '/gid', GID_RULE)
  }
  if (isGid(gid) && isAlertGid(gid)) faults.add('SAGA_GID_INVALID', '/gid', 'is kept for alerts')
  if (ack !== undefined && ack !== 'durable' && ack !== 'memory') {
    faults.add('SAGA_ACK_INVALID', '/ack', 'must be "durable" or "memory"')
  }
  const definition = readDefinition(kind, body, defaults, checkUrl, faults)
  const submission: Writable<Submission> = {
    ack: ack === 'memory' ? 'memory' : 'durable',
    content,
    definition,
  }
  if (isGid(gid)) submission.gid = gid
  return submission
}

function readKind(value: unknown, defaults: SubmissionDefaults, faults: Faults): NativeKind | undefined {
  if (value === undefined) return 'saga'
  const kinds = defaults.acceptNewKinds === true ? NATIVE_KINDS : OPEN_KINDS
  const kind = kinds.find((each) => each === value)
  return kind ?? faults.add('SAGA_KIND_UNSUPPORTED', '/kind', `must be one of ${kinds.join(', ')}`)
}

function readDefinition(
  kind: NativeKind,
  body: Body,
  defaults: SubmissionDefaults,
  checkUrl: CheckUrl,
  faults: Faults,
): Definition {
  const retry = parseRetry(body.retry, defaults.retry, '/retry', faults)
  const headers = parseHeaders(body.headers, '/headers', faults)
  const integer: ReadField = (field, code, min, max) =>
    readInteger(body[field], { min, max }, { code, path: `/${field}` }, faults)
  const timeoutMs = integer('timeoutMs', 'SAGA_TIMEOUT_INVALID', 1, TIMEOUT_MS_MAX) ?? defaults.timeoutMs
  const checkpointMs =
    integer('checkpointMs', 'SAGA_CHECKPOINT_INVALID', 0, CHECKPOINT_MS_MAX) ?? defaults.checkpointMs
  const common = { retry, timeoutMs, checkpointMs, ...parseNaming(body, faults) }
  const context = { retry, headers, checkUrl, faults }
  switch (kind) {
    case 'saga':
      return readSaga(body, common, context, integer)
    case 'tcc': {
      const deadlineMs = integer('deadlineMs', 'SAGA_DEADLINE_INVALID', 1, DEADLINE_MS_MAX)
      return { kind, ...common, deadlineMs: deadlineMs ?? PREPARED_MS, headers }
    }
    case 'message':
      return readMessage(body, common, context)
    case 'workflow': {
      const deadlineMs = integer('deadlineMs', 'SAGA_DEADLINE_INVALID', 1, DEADLINE_MS_MAX)
      const delayMs = integer('delayMs', 'SAGA_DELAY_INVALID', 0, DELAY_MS_MAX)
      return readWorkflow(body, common, context, {
        ...(deadlineMs === undefined ? {} : { deadlineMs }),
        ...(delayMs === undefined ? {} : { delayMs }),
      })
    }
  }
}

type ReadField = (field: string, code: ErrorCode, min: number, max: number) => number | undefined
type Common = Pick<SagaDefinition, 'retry' | 'timeoutMs' | 'checkpointMs' | 'name' | 'tags'>

function readSaga(body: Body, common: Common, context: BranchContext, integer: ReadField): SagaDefinition {
  const deadlineMs = integer('deadlineMs', 'SAGA_DEADLINE_INVALID', 1, DEADLINE_MS_MAX)
  const delayMs = integer('delayMs', 'SAGA_DELAY_INVALID', 0, DELAY_MS_MAX)
  const references = new References(body.input, context.faults)
  const branches = readBranches(body.branches, { ...context, references })
  const output =
    body.output === undefined
      ? undefined
      : references.readTemplate(body.output, '/output', { type: 'output' })
  const findAncestors = makeAncestorFinder(branches)
  const values = references.resolve(branches, output, findAncestors)
  if (context.faults.isEmpty) {
    refuseWrongRoles(branches, findAncestors, context.faults)
    refuseLongWaits(branches, delayMs ?? 0, context.faults)
  }
  const saga: Writable<SagaDefinition> = { kind: 'saga', branches, ...common }
  if (deadlineMs !== undefined) saga.deadlineMs = deadlineMs
  if (delayMs !== undefined && delayMs !== 0) saga.delayMs = delayMs
  if (values !== undefined) saga.values = values
  return saga
}

function readBranches(value: unknown, context: SagaContext): SagaDefinition['branches'] {
  const parsed = readList(value, context.faults, (branch, position) =>
    parseSagaBranch(branch, position, context),
  )
  return parsed === undefined ? [] : orderBranches(parsed, context.faults)
}
