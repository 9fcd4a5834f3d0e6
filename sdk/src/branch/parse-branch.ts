import {
  type CallIdentity,
  IDENTITY_HEADERS,
  type IdentityParameter,
  type Kind,
  type Op,
  readCallIdentity,
} from '@counterstep/protocol'
import { BARRIER_ID_DEFAULT, isBarrierText } from './barrier-key.ts'
import type { Branch } from './branch.ts'
import { BranchError } from './branch-errors.ts'
import { listHeaders } from './header-values.ts'

/**
 * This is a request that came over HTTP, from any framework.
 *
 * @example
 * ```ts
 * const { url, headers } = request
 * const call: BranchRequest = { url, headers, payload: await request.json() }
 * ```
 */
export interface BranchRequest {
  /**
   * This is the request target as it came: path and query of the request line, or the absolute URL. Do not give a query
   * that a framework has parsed: parsers differ in what they drop, merge and cut off, so a caller's own parameters
   * could pass for those of the orchestrator. In Node it is `request.url`; in Express and Fastify it is
   * `request.originalUrl`.
   */
  readonly url: string
  readonly headers: Headers | Readonly<Record<string, unknown>>
  /** The body, which has been read already. */
  readonly payload?: unknown
  /**
   * When it aborts, the answer does not count any more, and the barrier rolls back. The calls of an orchestrator in the same
   * process have it. Do not give that of a request over HTTP: a branch whose caller hangs up may go on to its end.
   */
  readonly signal?: AbortSignal
}

/** A kind of transaction, with the ops that a route may be called with. */
interface CalledKind {
  readonly kind: Kind
  readonly ops: readonly Op[]
}

/** The kinds by the words that `trans_type` has for them. */
type CalledKinds = Readonly<Record<string, CalledKind>>

// A message calls its branches with `action`, and its query-back with `msg`.
const MESSAGE: CalledKind = { kind: 'message', ops: ['action', 'msg'] }
// DTM has a word of its own for a message.
const BRANCH_KINDS: CalledKinds = {
  saga: { kind: 'saga', ops: ['action', 'compensate'] },
  tcc: { kind: 'tcc', ops: ['try', 'confirm', 'cancel'] },
  message: MESSAGE,
  msg: MESSAGE,
}
// Only the handler of a workflow is called with this word. The calls that a workflow plans are those of a saga.
const WORKFLOW_KINDS: CalledKinds = {
  workflow: { kind: 'workflow', ops: ['plan', 'action', 'compensate'] },
}

const UNDO_HEADER = 'counterstep-undo'
const NO_UNDO = 'none'
const UNDO_DUE = 'due'
const IDENTITY_PARTS = ['gid', 'branchId', 'op', 'kind'] as const
const COUNT = /^\d{1,15}$/

/**
 * The branch that a request calls: `gid`, `trans_type`, `branch_id` and `op` from the query, which Counterstep and DTM
 * write alike, and `counterstep-attempt`, `-epoch` and `-accepted-at` from the headers, which DTM lacks. If there are
 * headers `counterstep-gid`, `-branch-id`, `-op` and `-kind`, they must say the same as the query.
 *
 * Throws a {@link BranchError} with `BRANCH_CALL_INVALID` (a parameter is missing, garbage, there twice in any
 * spelling, or not what its header says) or `BRANCH_KIND_UNSUPPORTED`. Both are answered 400, which no orchestrator
 * takes for success or failure: the orchestrator asks again, and its operators see a branch that never ends. A 409
 * would undo a transaction because of a wrong URL.
 *
 * The query-back of a message (op `msg`) is read as well, but it asks what has happened and must run nothing: give it a
 * route of its own, with a `queryPreparedHandler`; a `branchHandler` refuses it.
 *
 * @example
 * ```ts
 * const branch = parseBranch({ url: request.originalUrl, headers: request.headers, payload: request.body })
 * console.log(branch.gid, branch.op)
 * ```
 */
export function parseBranch(request: BranchRequest): Branch {
  return parseCall(request, BRANCH_KINDS)
}

/**
 * Tells whether the call undoes an action that was answered with success. Only a handler that runs whole behind its barrier is told so: an
 * effect that passes one by itself may have passed none for the action, where there was nothing to do.
 */
export function isUndoDue({ op, headers }: Pick<Branch, 'op' | 'headers'>): boolean {
  return op === 'compensate' && headers[UNDO_HEADER] === UNDO_DUE
}

/** Reads a call of a workflow's handler as {@link parseBranch} reads that of a branch, and refuses every other kind. */
export function parseWorkflowCall(request: BranchRequest): Branch {
  return parseCall(request, WORKFLOW_KINDS)
}

function parseCall({ url, headers, payload, signal }: BranchRequest, kinds: CalledKinds): Branch {
  const identity = readIdentity(url)
  const called = Object.hasOwn(kinds, identity.trans_type) ? kinds[identity.trans_type] : undefined
  if (called === undefined) throw new BranchError('BRANCH_KIND_UNSUPPORTED', 'trans_type is not served here')
  const { kind, ops } = called
  const op = ops.find((each) => each === identity.op)
  if (op === undefined) {
    throw new BranchError('BRANCH_KIND_UNSUPPORTED', `op of a ${kind} must be ${ops.join(' or ')}`)
  }
  const known = readHeaders(headers)
  const gid = readId(identity, 'gid')
  const branchId = readId(identity, 'branch_id')
  assertHeadersAgree(known, { gid, branchId, op, kind })
  const acceptedAt = readAcceptedAt(known['counterstep-accepted-at'])
  return {
    gid,
    kind,
    branchId,
    op,
    barrierId: BARRIER_ID_DEFAULT,
    attempt: readCount(known['counterstep-attempt']),
    epoch: readCount(known['counterstep-epoch']),
    ...(acceptedAt === undefined ? {} : { acceptedAt }),
    ...readUndo(op, known[UNDO_HEADER]),
    payload,
    ...(signal === undefined ? {} : { signal }),
    headers: known,
  }
}

/** Without the header there may be an undo of an action, and an undo may have nothing to undo. */
function readUndo(op: Op, text: string | undefined): Pick<Branch, 'hasNoUndo'> {
  if (text === undefined || (op !== 'action' && op !== 'compensate')) return {}
  if (op === 'action' && text === NO_UNDO) return { hasNoUndo: true }
  if (op === 'compensate' && text === UNDO_DUE) return {}
  throw new BranchError(
    'BRANCH_CALL_INVALID',
    'the header counterstep-undo is none for an action, and due for its undo',
  )
}

function readIdentity(url: unknown): CallIdentity {
  const identity = typeof url === 'string' ? readCallIdentity(url) : { fault: 'is not given' }
  if ('fault' in identity) {
    throw new BranchError('BRANCH_CALL_INVALID', `the URL of a branch call ${identity.fault}`)
  }
  return identity
}

function readId(identity: CallIdentity, name: IdentityParameter): string {
  const value = identity[name]
  if (isBarrierText(value, name)) return value
  throw new BranchError('BRANCH_CALL_INVALID', `the query parameter ${name} is no id`)
}

/**
 * A signature covers these headers. So if the query was changed on its way, or is read differently here, it does not
 * agree with them.
 */
function assertHeadersAgree(
  headers: Readonly<Record<string, string>>,
  identity: Readonly<Record<keyof typeof IDENTITY_HEADERS, string>>,
): void {
  for (const part of IDENTITY_PARTS) {
    const name = IDENTITY_HEADERS[part]
    const value = headers[name]
    if (value !== undefined && value !== identity[part]) {
      throw new BranchError('BRANCH_CALL_INVALID', `the header ${name} does not agree with the query`)
    }
  }
}

function readHeaders(headers: BranchRequest['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    listHeaders(headers).flatMap(([name, value]) => {
      if (typeof value === 'string') return [[name.toLowerCase(), value]]
      return Array.isArray(value) ? [[name.toLowerCase(), value.join(', ')]] : []
    }),
  )
}

/**
 * An unreadable value is a fault and does not count as a missing header, because it could not be told whether the call
 * has expired.
 */
function readAcceptedAt(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  if (COUNT.test(header)) return Number(header)
  throw new BranchError('BRANCH_CALL_INVALID', 'the header counterstep-accepted-at is no instant')
}

/** The number is only shown to people, so a value that makes no sense counts as missing. */
function readCount(header: string | undefined): number {
  return header !== undefined && COUNT.test(header) ? Number(header) : 0
}
