import { isUtf8 } from 'node:buffer'
import type { RecordedDefinition } from '@counterstep/core'
import { PAYLOAD_BYTES_MAX } from '@counterstep/protocol'
import { refuse, refuseUnprocessable } from '../wire/answer.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { readBranchHeaders } from './branch-headers.ts'
import { readBareUrl, type UrlRules } from './branch-url.ts'
import { buildCommonDefinition } from './common-definition.ts'
import { readWorkflowData } from './custom-data.ts'

const NAME_LENGTH_MAX = 256

/** Builds the definition of a workflow that its client runs. Throws AnsweredError for one that could not be called back. */
export function buildRecordedDefinition(
  request: DtmRequest,
  checkUrl: UrlRules['checkUrl'],
): RecordedDefinition {
  const { name, data } = readWorkflowData(request.custom_data)
  if (name === '') throw refuse('custom_data: a workflow has no name')
  if (name.length > NAME_LENGTH_MAX)
    throw refuseUnprocessable(`custom_data: the name of a workflow is over ${NAME_LENGTH_MAX} characters`)
  if (data.length > PAYLOAD_BYTES_MAX)
    throw refuseUnprocessable(`custom_data: the data is over ${PAYLOAD_BYTES_MAX} bytes`)
  // A callback over HTTP carries a text.
  if (!isUtf8(data)) throw refuseUnprocessable('custom_data: the data is not UTF-8')
  const url = readBareUrl(request.query_prepared, { checkUrl, protocol: request.protocol })
  if (url === '') throw refuse('a workflow has no query_prepared, at which it would be called back')
  const common = buildCommonDefinition(request)
  const { headers, contentType } = readBranchHeaders(request.branch_headers)
  return {
    kind: 'recorded',
    ...common,
    retry: { ...common.retry, limit: null },
    workflow: name,
    callback: { url, body: data.toString('utf8'), contentType, headers },
  }
}
