/**
 * Reads the edit of one op, with the same checks as a submit. What the edit leaves out stays as it is, so a `capMs` below the
 * op's own `initialMs` is a fault, for example.
 */

import type { SagaRole } from '@counterstep/protocol'
import { type RetryPolicy, TIMEOUT_MS_MAX } from '@counterstep/protocol'
import type { Edit } from '../transaction.ts'
import type { Writable } from '../writable.ts'
import { canonicalJson } from './canonical-json.ts'
import {
  Faults,
  isRecord,
  type Refused,
  readInteger,
  refuseUnknownFields,
  refuseUnreadable,
} from './faults.ts'
import { type CheckUrl, parseContent, parseUrl } from './parse-branch.ts'
import { NO_HEADERS, parseHeaders } from './parse-headers.ts'
import { parseRetry } from './parse-retry.ts'

export type EditFields = Omit<Edit, 'branch' | 'op'>
export type ParsedEdit = { readonly type: 'parsed'; readonly edit: EditFields } | Refused

const FIELDS = new Set(['url', 'payload', 'body', 'contentType', 'headers', 'timeoutMs', 'retry'])

export interface EditContext {
  /** The policy that the op has now. */
  readonly retry: RetryPolicy
  readonly role?: SagaRole | undefined
  readonly checkUrl: CheckUrl
}

/** `value` has the fields of the edit alone, without those that every command has. */
export function parseEdit(value: Readonly<Record<string, unknown>>, context: EditContext): ParsedEdit {
  const faults = new Faults()
  const edit = readEdit(value, context, faults)
  if (Object.keys(value).length === 0) faults.add('SAGA_INVALID', '', 'changes nothing')
  return faults.readRefusal() ?? (edit === undefined ? refuseUnreadable() : { type: 'parsed', edit })
}

function readEdit(
  value: Readonly<Record<string, unknown>>,
  { retry, role, checkUrl }: EditContext,
  faults: Faults,
): EditFields | undefined {
  refuseUnknownFields(value, FIELDS, '', faults)
  if (canonicalJson(value as never) === undefined)
    return faults.add('SAGA_PAYLOAD_TOO_DEEP', '', 'is nested too deep')
  const edit: Writable<EditFields> = {}
  const context = { retry, headers: NO_HEADERS, checkUrl, faults }
  if (value.url !== undefined) {
    const url = parseUrl(value.url, '/url', context)
    if (url !== undefined) edit.url = url
  }
  const isContent = ['payload', 'body', 'contentType'].some((name) => value[name] !== undefined)
  if (isContent) Object.assign(edit, parseContent(value, '', faults))
  if (value.headers !== undefined) edit.headers = parseHeaders(value.headers, '/headers', faults)
  const timeoutMs = readInteger(
    value.timeoutMs,
    { min: 1, max: TIMEOUT_MS_MAX },
    { code: 'SAGA_TIMEOUT_INVALID', path: '/timeoutMs' },
    faults,
  )
  if (timeoutMs !== undefined) edit.timeoutMs = timeoutMs
  if (value.retry !== undefined) edit.retry = parseRetry(value.retry, retry, '/retry', faults)
  if (isRecord(value.retry) && typeof value.retry.limit === 'number' && isLasting(role))
    faults.add('SAGA_ROLE_INVALID', '/retry/limit', `is not for a ${role}`)
  return edit
}

function isLasting(role: SagaRole | undefined): boolean {
  return role === 'pivot' || role === 'retriable'
}
