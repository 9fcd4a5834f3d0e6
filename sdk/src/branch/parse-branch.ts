import type { Kind, Op } from '@counterstep/protocol'
import { isBarrierText } from './barrier-key.ts'
import type { Branch } from './branch.ts'
import { BranchError } from './branch-errors.ts'

/**
 * What came over HTTP, from whichever framework.
 *
 * @example
 * ```ts
 * const url = new URL(request.url)
 * const request: BranchRequest = { query: url.searchParams, headers: request.headers, payload: await request.json() }
 * ```
 */
export interface BranchRequest {
  readonly query: unknown
  readonly headers: Headers | Readonly<Record<string, unknown>>
  /** The body, read already. */
  readonly payload?: unknown
}

// Each kind's ops as they are called: a message's branches with `action`, its query-back with `msg`.
const OPS_OF: Readonly<Record<Kind, readonly Op[]>> = {
  saga: ['action', 'compensate'],
  tcc: ['try', 'confirm', 'cancel'],
  message: ['action', 'msg'],
}

// DTM has a word of its own for one of them.
const KIND_OF: Readonly<Record<string, Kind>> = {
  saga: 'saga',
  tcc: 'tcc',
  message: 'message',
  msg: 'message',
}

const BARRIER_ID_DEFAULT = '01'
const COUNT = /^\d{1,15}$/

/**
 * The branch that a request calls: `gid`, `trans_type`, `branch_id` and `op` from the query, which Counterstep and DTM
 * write alike, and `counterstep-attempt`, `-epoch` and `-accepted-at` from the headers, which DTM lacks.
 *
 * Throws a {@link BranchError} with `BRANCH_CALL_INVALID` (a parameter is missing, repeated or garbage) or
 * `BRANCH_KIND_UNSUPPORTED`. Both are answered 400, which no orchestrator takes for success or for failure: it asks
 * again, and its operators see a branch that never ends. A 409 would undo a transaction because of a wrong URL.
 *
 * The query-back of a message (op `msg`) is read as well, but it asks what has happened and must run nothing: give it a
 * route of its own, with a `queryPreparedHandler`; a `branchHandler` refuses it.
 *
 * @example
 * ```ts
 * const branch = parseBranch({ query: request.query, headers: request.headers, payload: request.body })
 * console.log(branch.gid, branch.op)
 * ```
 */
export function parseBranch({ query, headers, payload }: BranchRequest): Branch {
  const kindText = parameter(query, 'trans_type')
  const kind = Object.hasOwn(KIND_OF, kindText) ? KIND_OF[kindText] : undefined
  if (kind === undefined) throw new BranchError('BRANCH_KIND_UNSUPPORTED', 'trans_type is not served here')
  const opText = parameter(query, 'op')
  const op = OPS_OF[kind].find((each) => each === opText)
  if (op === undefined) {
    throw new BranchError('BRANCH_KIND_UNSUPPORTED', `op of a ${kind} must be ${OPS_OF[kind].join(' or ')}`)
  }
  const known = headersOf(headers)
  const acceptedAt = acceptedAtOf(known['counterstep-accepted-at'])
  return {
    gid: idParameter(query, 'gid'),
    kind,
    branchId: idParameter(query, 'branch_id'),
    op,
    barrierId: BARRIER_ID_DEFAULT,
    attempt: countOf(known['counterstep-attempt']),
    epoch: countOf(known['counterstep-epoch']),
    ...(acceptedAt === undefined ? {} : { acceptedAt }),
    payload,
    headers: known,
  }
}

function parameter(query: unknown, name: string): string {
  const value = query instanceof URLSearchParams ? single(query.getAll(name)) : own(query, name)
  if (typeof value === 'string' && value !== '') return value
  // An array: the branch's URL has a parameter of this name itself, and there are two of them now.
  const fault = value === undefined || value === '' ? 'is missing' : 'is there more than once'
  throw new BranchError('BRANCH_CALL_INVALID', `the query parameter ${name} ${fault}`)
}

function idParameter(query: unknown, name: string): string {
  const value = parameter(query, name)
  if (isBarrierText(value, name)) return value
  throw new BranchError('BRANCH_CALL_INVALID', `the query parameter ${name} is no id`)
}

function single(values: readonly string[]): unknown {
  return values.length > 1 ? values : values[0]
}

function own(query: unknown, name: string): unknown {
  if (typeof query !== 'object' || query === null) return undefined
  return Object.hasOwn(query, name) ? (query as Readonly<Record<string, unknown>>)[name] : undefined
}

function headersOf(headers: BranchRequest['headers']): Readonly<Record<string, string>> {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers)
  return Object.fromEntries(
    entries.flatMap(([name, value]) => {
      if (typeof value === 'string') return [[name.toLowerCase(), value]]
      return Array.isArray(value) ? [[name.toLowerCase(), value.join(', ')]] : []
    }),
  )
}

/** Garbage in it is a fault, not a missing header: whether the call has expired could no more be told. */
function acceptedAtOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  if (COUNT.test(header)) return Number(header)
  throw new BranchError('BRANCH_CALL_INVALID', 'the header counterstep-accepted-at is no instant')
}

/** Only told to people: garbage in it is as good as nothing. */
function countOf(header: string | undefined): number {
  return header !== undefined && COUNT.test(header) ? Number(header) : 0
}
