import { decodeGoStruct, type GoField, type GoStruct } from '../go-json/decode-go-struct.ts'
import { scanGoJson } from '../go-json/scan-go-json.ts'
import { strippedGid } from './read-gid.ts'

const STORE = 'TransGlobal.TransGlobalStore'
const OPTIONS = `${STORE}.TransOptions`

const FIELDS = {
  gid: field(STORE, 'gid', 'string'),
  trans_type: field(STORE, 'trans_type', 'string'),
  /** Read for its type alone: DTM refuses another, and sets it itself. */
  status: field(STORE, 'status', 'string'),
  steps: field(STORE, 'steps', '[]map[string]string'),
  payloads: field(STORE, 'payloads', '[]string'),
  query_prepared: field(STORE, 'query_prepared', 'string'),
  protocol: field(STORE, 'protocol', 'string'),
  rollback_reason: field(STORE, 'rollback_reason', 'string'),
  custom_data: field(STORE, 'custom_data', 'string'),
  wait_result: field(OPTIONS, 'wait_result', 'bool'),
  timeout_to_fail: field(OPTIONS, 'timeout_to_fail', 'int64'),
  request_timeout: field(OPTIONS, 'request_timeout', 'int64'),
  retry_interval: field(OPTIONS, 'retry_interval', 'int64'),
  branch_headers: field(OPTIONS, 'branch_headers', 'map[string]string'),
  concurrent: field(OPTIONS, 'concurrent', 'bool'),
  retry_limit: field(OPTIONS, 'retry_limit', 'int64'),
  req_extra: field('TransGlobal', 'req_extra', 'map[string]string'),
} as const

/** The body of prepare, submit, abort, forceStop and resetNextCronTime, under the names of the wire. */
export type DtmRequest = GoStruct<typeof FIELDS>

/** Throws GoSyntaxError and GoTypeError. */
export function readRequest(body: string): DtmRequest {
  const request = decodeGoStruct(scanGoJson(body), FIELDS, 'dtmsvr.TransGlobal')
  return { ...request, gid: strippedGid(request.gid), protocol: request.protocol || 'http' }
}

function field<T extends GoField['type']>(struct: string, key: string, type: T) {
  return { path: `${struct}.${key}`, type }
}
