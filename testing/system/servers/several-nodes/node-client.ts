import {
  ERROR_MEANINGS,
  type ErrorCode,
  type SubmitRequest,
  type TransactionView,
} from '@counterstep/protocol'
import { findCanaries } from '@counterstep/test-servers/canary'
import { withSecrets } from '@counterstep/test-servers/with-secrets'

const ANSWER_MS_MAX = 20_000

/** The answer of a node, or that it gave none. */
export type NodeAnswer =
  | { readonly type: 'view'; readonly status: number; readonly view: TransactionView }
  | { readonly type: 'problem'; readonly status: number; readonly code: string }
  | { readonly type: 'none'; readonly why: 'refused' | 'lost' | 'timeout' }

export interface SubmitOptions {
  readonly waitSeconds?: number
  readonly answerMsMax?: number
}

export function submit(
  url: string,
  request: SubmitRequest,
  options: SubmitOptions = {},
): Promise<NodeAnswer> {
  const { waitSeconds, answerMsMax = ANSWER_MS_MAX } = options
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (waitSeconds !== undefined) headers.prefer = `wait=${waitSeconds}`
  return ask(
    `${url}/v1/transactions`,
    { method: 'POST', headers, body: JSON.stringify(withSecrets(request)) },
    answerMsMax,
  )
}

export function abort(url: string, gid: string): Promise<NodeAnswer> {
  return ask(`${url}/v1/transactions/${gid}/abort`, { method: 'POST' }, ANSWER_MS_MAX)
}

export function pause(url: string, gid: string): Promise<NodeAnswer> {
  return command(url, gid, 'pause')
}

export function resume(url: string, gid: string): Promise<NodeAnswer> {
  return command(url, gid, 'resume')
}

function command(url: string, gid: string, name: string): Promise<NodeAnswer> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ reason: 'a test' })
  return ask(`${url}/v1/transactions/${gid}/${name}`, { method: 'POST', headers, body }, ANSWER_MS_MAX)
}

export function view(url: string, gid: string, answerMsMax = ANSWER_MS_MAX): Promise<NodeAnswer> {
  return ask(`${url}/v1/transactions/${gid}`, {}, answerMsMax)
}

/** A 503 that docs/errors.md tells a caller to send again. */
export function isRetryable(answer: NodeAnswer): boolean {
  if (answer.type !== 'problem' || answer.status !== 503) return false
  return ERROR_MEANINGS[answer.code as ErrorCode] === 'unavailable'
}

async function ask(url: string, init: RequestInit, answerMsMax: number): Promise<NodeAnswer> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(answerMsMax) })
    const { status } = response
    const text = await response.text()
    const shown = findCanaries({ [url]: text })
    if (shown.length > 0) throw new Error(`a node answers secrets: ${shown.join()}`)
    const body = JSON.parse(text) as TransactionView & { readonly code: string }
    return status < 300 ? { type: 'view', status, view: body } : { type: 'problem', status, code: body.code }
  } catch (error: unknown) {
    return { type: 'none', why: readReason(error) }
  }
}

/** fetch reports a lost connection as a TypeError; anything else is a fault of the test. */
function readReason(error: unknown): 'refused' | 'lost' | 'timeout' {
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'timeout'
  if (!(error instanceof TypeError)) throw error
  const { cause } = error
  const isRefused = cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
  return isRefused ? 'refused' : 'lost'
}
