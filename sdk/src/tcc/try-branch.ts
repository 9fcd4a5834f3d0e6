import { findUrlFault, IDENTITY_HEADERS, type JsonValue } from '@counterstep/protocol'
import { BranchFailure, BranchOngoing } from '../branch/branch-errors.ts'
import { UnavailableError } from '../errors.ts'
import { isRecord, toAnswerTooLargeError } from '../problem-error.ts'
import { toJson } from '../to-json.ts'
import { AnswerTooLargeError } from '../transport/answer-bytes.ts'
import { readResponse } from '../transport/read-response.ts'
import type { RegisteredBranch, TccBranch } from './tcc-types.ts'

export interface TryRequest {
  readonly branch: TccBranch
  readonly registered: RegisteredBranch
  /** The URL of the try, which has been checked. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly answerBytesMax: number
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

/** Parses the URL of a try. Throws a TypeError for one that the server would not call either. */
export function parseTryUrl(text: string): URL {
  const url = new URL(text)
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:'
  if (!isHttp || url.username !== '' || url.password !== '')
    throw new TypeError('try must be a http or https URL without a login')
  const fault = findUrlFault(url.pathname + url.search)
  if (fault !== undefined) throw new TypeError(`the URL of a try ${fault}`)
  return url
}

/**
 * Calls the try once. A try without an answer is cancelled, and its resource may then be tried by another
 * transaction.
 */
export async function tryBranch(fetch: typeof globalThis.fetch, request: TryRequest): Promise<unknown> {
  const { branch, registered, url, signal } = request
  const timeout = AbortSignal.timeout(Math.ceil(request.timeoutMs))
  const init: RequestInit = {
    method: 'POST',
    redirect: 'manual',
    headers: {
      ...request.headers,
      'content-type':
        branch.body === undefined ? 'application/json' : (branch.contentType ?? 'text/plain; charset=utf-8'),
      'counterstep-attempt': '1',
      'counterstep-epoch': '0',
      'counterstep-accepted-at': String(registered.acceptedAt),
      [IDENTITY_HEADERS.gid]: registered.gid,
      [IDENTITY_HEADERS.branchId]: registered.branchId,
      [IDENTITY_HEADERS.op]: 'try',
      [IDENTITY_HEADERS.kind]: 'tcc',
    },
    body: branch.body ?? toJson(branch.payload === undefined ? {} : branch.payload, registered.gid),
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  }
  const { response, text } = await callTry(fetch, toTarget(url, registered), init, request)
  return readOutcome(response, text, request)
}

/**
 * Adds the identity to the URL. It stands first, as in the orchestrator's own calls, and the URL's own query stays as
 * it is written.
 */
function toTarget({ origin, pathname, search }: URL, { gid, branchId }: RegisteredBranch): string {
  const ownQuery = search === '' ? '' : `&${search.slice(1)}`
  const ids = `gid=${encodeURIComponent(gid)}&trans_type=tcc&branch_id=${encodeURIComponent(branchId)}&op=try`
  return `${origin}${pathname}?${ids}${ownQuery}`
}

async function callTry(
  fetch: typeof globalThis.fetch,
  target: string,
  init: RequestInit,
  { url, registered: { gid, branchId }, answerBytesMax, signal }: TryRequest,
): Promise<{ readonly response: Response; readonly text: string }> {
  try {
    const response = await fetch(target, init)
    return { response, text: await readResponse(response, answerBytesMax) }
  } catch (error: unknown) {
    signal?.throwIfAborted()
    if (error instanceof AnswerTooLargeError) throw toAnswerTooLargeError(error, url.origin, gid)
    const message = `no answer to the try of branch ${branchId}`
    throw new UnavailableError('SAGA_UNREACHABLE', message, { gid, cause: error })
  }
}

/** Reads the outcome from the status alone, as the server does for its own calls. */
function readOutcome(
  { status, headers }: Response,
  text: string,
  { registered: { gid, branchId } }: TryRequest,
): unknown {
  if (status === 200) return parseAnswer(text)
  if (status === 409) throw toBranchFailure(parseAnswer(text), branchId)
  if (status === 425) {
    const seconds = headers.get('retry-after')
    const isCount = seconds !== null && /^\d{1,6}$/.test(seconds)
    throw new BranchOngoing({
      message: `the try of branch ${branchId} is not done yet`,
      ...(isCount ? { retryAfterMs: Number(seconds) * 1000 } : {}),
    })
  }
  const message = `the try of branch ${branchId} was answered ${status}`
  throw new UnavailableError('SAGA_UNREACHABLE', message, { status, gid })
}

/** Returns the JSON value, or the text as it is; undefined for an empty answer. */
function parseAnswer(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    // A service need not answer JSON.
    return text
  }
}

function toBranchFailure(answer: unknown, branchId: string): BranchFailure {
  const { code, message, details } = isRecord(answer) ? answer : {}
  const text = typeof message === 'string' ? message : `branch ${branchId} said no`
  return new BranchFailure(text, {
    ...(typeof code === 'string' ? { code } : {}),
    // The details came out of JSON.
    ...(details === undefined ? {} : { details: details as JsonValue }),
  })
}
