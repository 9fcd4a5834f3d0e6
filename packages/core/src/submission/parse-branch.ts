import {
  BRANCH_ID_RULE,
  type BranchId,
  findPayloadFault,
  isBranchId,
  type JsonValue,
  PAYLOAD_BYTES_MAX,
  type RetryPolicy,
  TIMEOUT_MS_MAX,
  URL_LENGTH_MAX,
} from '@counterstep/protocol'
import type { BranchTarget } from '../definition.ts'
import type { Writable } from '../writable.ts'
import { type Faults, readInteger } from './faults.ts'
import { type Headers, parseHeaders } from './parse-headers.ts'
import { parseRetry } from './parse-retry.ts'
import { isWellFormed, utf8Length } from './utf8-length.ts'

/** Checks a URL. Undefined: it may be called. The host parses URLs and has the policy on targets. */
export type CheckUrl = (url: string) => UrlRefusal | undefined

/**
 * Checks a branch over gRPC that is written as HOST:PORT/PACKAGE.SERVICE/METHOD, and returns the URL to store: it has a scheme, by
 * which the call is made.
 */
export type CheckGrpc = (target: string) => string | UrlRefusal

export interface UrlRefusal {
  readonly code: 'SAGA_URL_INVALID' | 'SAGA_TARGET_NOT_ALLOWED'
  /** The message leaves the URL out, because it may have a secret. */
  readonly message: string
}

export interface BranchContext {
  readonly retry: RetryPolicy
  readonly headers: Headers
  readonly checkUrl: CheckUrl
  readonly faults: Faults
}

const MEDIA_TYPE = /^[\x21-\x7e][\x20-\x7e]{0,254}$/

/** Reads the fields that branches of every kind have. */
export function parseTarget(
  value: Readonly<Record<string, unknown>>,
  position: number,
  path: string,
  context: BranchContext,
): BranchTarget {
  const { faults } = context
  const timeoutMs = readInteger(
    value.timeoutMs,
    { min: 1, max: TIMEOUT_MS_MAX },
    { code: 'SAGA_TIMEOUT_INVALID', path: `${path}/timeoutMs` },
    faults,
  )
  const id = parseId(value.id, position, path, faults)
  const { body, contentType } = parseContent(value, path, faults)
  const retry =
    value.retry === undefined ? undefined : parseRetry(value.retry, context.retry, `${path}/retry`, faults)
  const headers = parseHeaders(value.headers, `${path}/headers`, faults, context.headers)
  const target: Writable<BranchTarget> = { id, body, contentType, headers }
  if (retry !== undefined) target.retry = retry
  if (timeoutMs !== undefined) target.timeoutMs = timeoutMs
  return target
}

/** Refuses ids that more than one branch has. */
export function refuseDuplicates(branches: readonly Pick<BranchTarget, 'id'>[], faults: Faults): void {
  const seen = new Set<string>()
  branches.forEach(({ id }, position) => {
    if (seen.has(id))
      faults.add('SAGA_BRANCH_ID_DUPLICATE', `/branches/${position}/id`, `${id} is given twice`)
    seen.add(id)
  })
}

function parseId(value: unknown, position: number, path: string, faults: Faults): BranchId {
  const id = value === undefined ? String(position + 1).padStart(2, '0') : value
  if (!isBranchId(id)) {
    faults.add('SAGA_BRANCH_ID_INVALID', `${path}/id`, BRANCH_ID_RULE)
  }
  return id as BranchId
}

export function parseUrl(
  value: unknown,
  path: string,
  { checkUrl, faults }: BranchContext,
): string | undefined {
  if (typeof value !== 'string') return faults.add('SAGA_URL_INVALID', path, 'must be a URL')
  if (value.length > URL_LENGTH_MAX) {
    return faults.add('SAGA_URL_INVALID', path, `is over ${URL_LENGTH_MAX} characters`)
  }
  const refusal = checkUrl(value)
  return refusal === undefined ? value : faults.add(refusal.code, path, refusal.message)
}

export type Content = Pick<BranchTarget, 'body' | 'contentType'>

/** Reads a JSON value, or a text that is delivered byte for byte. A request with neither gets `{}`. */
export function parseContent(
  value: Readonly<Record<string, unknown>>,
  path: string,
  faults: Faults,
): Content {
  if (value.body === undefined) {
    if (value.contentType !== undefined) faults.add('SAGA_INVALID', `${path}/contentType`, 'needs a body')
    const body = JSON.stringify((value.payload ?? (value.payload === null ? null : {})) as JsonValue)
    refuseLarge(body, `${path}/payload`, faults)
    return { body, contentType: 'application/json' }
  }
  if (value.payload !== undefined) faults.add('SAGA_INVALID', `${path}/body`, 'excludes payload')
  const { body, contentType = 'text/plain; charset=utf-8' } = value
  const isType = typeof contentType === 'string' && MEDIA_TYPE.test(contentType)
  if (!isType) faults.add('SAGA_HEADER_INVALID', `${path}/contentType`, 'is not a content type')
  const isText = typeof body === 'string' && isWellFormed(body)
  if (!isText) faults.add('SAGA_INVALID', `${path}/body`, 'must be a text that UTF-8 can carry')
  if (!isType || !isText) return { body: '', contentType: '' }
  const fault = findPayloadFault(contentType, body)
  if (fault !== undefined) faults.add('SAGA_HEADER_INVALID', `${path}/body`, fault)
  refuseLarge(body, `${path}/body`, faults)
  return { body, contentType }
}

function refuseLarge(body: string, path: string, faults: Faults): void {
  if (utf8Length(body, PAYLOAD_BYTES_MAX) > PAYLOAD_BYTES_MAX) {
    faults.add('SAGA_PAYLOAD_TOO_LARGE', path, `is over ${PAYLOAD_BYTES_MAX} bytes`)
  }
}
