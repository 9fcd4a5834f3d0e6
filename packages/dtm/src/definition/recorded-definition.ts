import { isUtf8 } from 'node:buffer'
import type { RecordedDefinition } from '@counterstep/core'
import { findPayloadFault, GRPC_CONTENT_TYPE, isGrpcUrl, PAYLOAD_BYTES_MAX } from '@counterstep/protocol'
import { refuse, refuseUnprocessable } from '../wire/answer.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { readBranchHeaders } from './branch-headers.ts'
import { readBareUrl, type UrlRules } from './branch-url.ts'
import { buildCommonDefinition } from './common-definition.ts'
import { readWorkflowData } from './custom-data.ts'

const NAME_LENGTH_MAX = 256
const ASCII = /^[\x20-\x7e]+$/
/** The tag of field 1 with a length in front. */
const DATA_FIELD = 0x0a

/** Builds the definition of a workflow that its client runs. Throws AnsweredError for one that could not be called back. */
export function buildRecordedDefinition(
  request: DtmRequest,
  checks: Omit<UrlRules, 'protocol'>,
): RecordedDefinition {
  const { name, data } = readWorkflowData(request.custom_data)
  if (name === '') throw refuse('custom_data: a workflow has no name')
  if (name.length > NAME_LENGTH_MAX)
    throw refuseUnprocessable(`custom_data: the name of a workflow is over ${NAME_LENGTH_MAX} characters`)
  if (data.length > PAYLOAD_BYTES_MAX)
    throw refuseUnprocessable(`custom_data: the data is over ${PAYLOAD_BYTES_MAX} bytes`)
  const url = readBareUrl(request.query_prepared, { ...checks, protocol: request.protocol })
  if (url === '') throw refuse('a workflow has no query_prepared, at which it would be called back')
  const common = buildCommonDefinition(request)
  const { headers, contentType } = readBranchHeaders(request.branch_headers, request.protocol)
  return {
    kind: 'recorded',
    ...common,
    retry: { ...common.retry, limit: null },
    ...(isGrpcUrl(url) ? { callsGrpc: true } : {}),
    workflow: name,
    callback: { url, headers, ...buildCallback(url, name, data, contentType) },
  }
}

function buildCallback(url: string, name: string, data: Buffer, contentType: string) {
  if (!isGrpcUrl(url)) {
    // A callback over HTTP carries a text.
    if (!isUtf8(data)) throw refuseUnprocessable('custom_data: the data is not UTF-8')
    const body = data.toString('utf8')
    const fault = findPayloadFault(contentType, body)
    if (fault !== undefined) throw refuse(`custom_data: the data ${fault}`)
    return { body, contentType }
  }
  // The name is sent as metadata.
  if (!ASCII.test(name))
    throw refuseUnprocessable('custom_data: the name of a workflow over gRPC is not ASCII')
  return { body: writeWorkflowData(data).toString('base64'), contentType: GRPC_CONTENT_TYPE }
}

/** Writes the message that DTM's client is called back with: its one field is the data. */
function writeWorkflowData(data: Buffer): Buffer {
  if (data.length === 0) return data
  const length: number[] = []
  for (let left = data.length; left > 0 || length.length === 0; left >>>= 7)
    length.push(left < 0x80 ? left : (left & 0x7f) | 0x80)
  return Buffer.concat([Buffer.from([DATA_FIELD, ...length]), data])
}
