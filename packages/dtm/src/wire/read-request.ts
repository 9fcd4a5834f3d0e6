import { hash } from 'node:crypto'
import { decodeGoStruct, type GoField, type GoStruct } from '../go-json/decode-go-struct.ts'
import type { GoValue } from '../go-json/go-value.ts'
import { scanGoJson } from '../go-json/scan-go-json.ts'
import { pick } from './pick.ts'
import { stripGid } from './read-gid.ts'

const STORE = 'TransGlobal.TransGlobalStore'
const OPTIONS = `${STORE}.TransOptions`

const FIELDS = {
  gid: defineField(STORE, 'gid', 'string'),
  trans_type: defineField(STORE, 'trans_type', 'string'),
  /** Only its type is checked, as in DTM, which sets the value itself. */
  status: defineField(STORE, 'status', 'string'),
  steps: defineField(STORE, 'steps', '[]map[string]string'),
  payloads: defineField(STORE, 'payloads', '[]string'),
  query_prepared: defineField(STORE, 'query_prepared', 'string'),
  protocol: defineField(STORE, 'protocol', 'string'),
  rollback_reason: defineField(STORE, 'rollback_reason', 'string'),
  custom_data: defineField(STORE, 'custom_data', 'string'),
  wait_result: defineField(OPTIONS, 'wait_result', 'bool'),
  timeout_to_fail: defineField(OPTIONS, 'timeout_to_fail', 'int64'),
  request_timeout: defineField(OPTIONS, 'request_timeout', 'int64'),
  retry_interval: defineField(OPTIONS, 'retry_interval', 'int64'),
  branch_headers: defineField(OPTIONS, 'branch_headers', 'map[string]string'),
  concurrent: defineField(OPTIONS, 'concurrent', 'bool'),
  retry_limit: defineField(OPTIONS, 'retry_limit', 'int64'),
  req_extra: defineField('TransGlobal', 'req_extra', 'map[string]string'),
} as const

const STEP_KEYS = ['action', 'compensate', 'data'] as const
/** The end of a workflow stands there. */
const END_KEYS = ['status', 'result', 'rollback_reason'] as const

/** This is the body of prepare, submit, abort, forceStop and resetNextCronTime, with its fields named as on the wire. */
export type DtmRequest = GoStruct<typeof FIELDS> & {
  /** The payloads are bytes in base64, because they came over gRPC. */
  readonly hasBinaryPayloads?: true
  /** The hash of the content, by which a repeat is known. */
  readonly contentHash: string
}

/** Reads the body of a command. Throws GoSyntaxError and GoTypeError. */
export function readRequest(body: string): DtmRequest {
  return toRequest(scanGoJson(body))
}

/** Makes the request of a value, in which an API that is not HTTP may have changed something. Throws GoTypeError. */
export function toRequest(
  value: GoValue,
  changed: { readonly gid?: string; readonly hasBinaryPayloads?: true } = {},
): DtmRequest {
  const request = decodeGoStruct(value, FIELDS, 'dtmsvr.TransGlobal')
  const whole = { ...request, gid: stripGid(request.gid), protocol: request.protocol || 'http', ...changed }
  return {
    ...whole,
    contentHash: hashContent(whole),
    steps: request.steps.map((step) => pick(step, STEP_KEYS)),
    req_extra: pick(request.req_extra, END_KEYS),
  }
}

/** Leaves out the fields that may differ in a repeat, such as whether the client waits. Keys of a step that nothing reads count, as in older versions. */
function hashContent(whole: Omit<DtmRequest, 'contentHash'>): string {
  const { wait_result: _waits, rollback_reason: _reason, status: _status, ...content } = whole
  return hash('sha256', JSON.stringify(content))
}

function defineField<T extends GoField['type']>(struct: string, key: string, type: T) {
  return { path: `${struct}.${key}`, type }
}
