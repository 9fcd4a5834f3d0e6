import {
  type DtmRequest,
  type GoValue,
  GRPC,
  type Registration,
  scanGoJson,
  toRegistration,
  toRequest,
} from '@counterstep/dtm/commands'
import type { DtmBranchMessage, DtmRequestMessage, TextMap } from './messages.ts'

/**
 * Makes of a message what the body of the same command over HTTP would be, so that both are read by the same rules. Throws what
 * those throw.
 */
export function readRequest(message: DtmRequestMessage): DtmRequest {
  const { TransOptions: options } = message
  const value = toObject({
    trans_type: toText(message.TransType),
    steps: message.Steps === '' ? { type: 'null' } : scanGoJson(message.Steps),
    payloads: toTexts(message.BinPayloads.map((bytes) => bytes.toString('base64'))),
    query_prepared: toText(message.QueryPrepared),
    protocol: toText(GRPC),
    rollback_reason: toText(message.RollbackReason),
    custom_data: toText(message.CustomedData),
    req_extra: toMap(message.ReqExtra),
    ...(options && {
      wait_result: { type: 'bool', value: options.WaitResult },
      timeout_to_fail: toNumber(options.TimeoutToFail),
      request_timeout: toNumber(options.RequestTimeout),
      retry_interval: toNumber(options.RetryInterval),
      retry_limit: toNumber(options.RetryLimit),
      branch_headers: toMap(options.BranchHeaders),
    }),
  })
  // DTM changes a gid that came over HTTP alone.
  return toRequest(value, { gid: message.Gid, hasBinaryPayloads: true })
}

export function readRegistration(message: DtmBranchMessage): Registration {
  const { Gid: gid, TransType: trans_type, BranchID: branch_id, Op: op } = message
  const fields = { gid, trans_type, branch_id, ...(op === '' ? {} : { op }) }
  const own = Object.entries(fields).map(([key, value]) => ({ key, value }))
  return toRegistration(toMap([...message.Data, ...own]))
}

function toObject(members: Readonly<Record<string, GoValue>>): GoValue {
  return { type: 'object', members: Object.entries(members).map(([key, value]) => ({ key, value })) }
}

function toMap(entries: TextMap): GoValue {
  return { type: 'object', members: entries.map(({ key, value }) => ({ key, value: toText(value) })) }
}

function toTexts(texts: readonly string[]): GoValue {
  return { type: 'array', items: texts.map(toText) }
}

function toText(value: string): GoValue {
  return { type: 'string', value }
}

function toNumber(text: string): GoValue {
  return { type: 'number', text }
}
