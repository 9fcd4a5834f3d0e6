import { hash } from 'node:crypto'
import type { Definition, Submission } from '@counterstep/core'
import { type Gid, WAIT_MS_MAX } from '@counterstep/protocol'
import type { DtmRequest } from '../wire/read-request.ts'
import { readBranchHeaders } from './branch-headers.ts'
import { RETRY_INTERVAL_S } from './common-definition.ts'
import { type Note, optionsText, writeNote } from './note.ts'

/** How long a client waits that names no time: DTM's own pass over a saga ends within it. */
const CALLER_WAIT_MS = 8_000
/** The answer must be there before the caller gives up: so much earlier it is sent, or a tenth of a shorter wait. */
const ANSWER_MARGIN_MS = 500

export type NamedSubmission = Submission & { readonly gid: Gid }

/** `ticket`: fresh for what is new, the stored one to name what is there. */
export function submissionOf(
  gid: Gid,
  request: DtmRequest,
  definition: Definition,
  ticket: string,
): NamedSubmission {
  const note: Note = {
    ticket,
    request: requestDigest(request),
    options: optionsText(request),
    protocol: request.protocol,
    queryPrepared: request.query_prepared,
    customData: request.custom_data,
    retryIntervalS: shownIntervalS(request),
    waitResult: request.wait_result,
    waitMs: waitMsOf(request),
    contentType: readBranchHeaders(request.branch_headers).contentType,
    isStepless: definition.kind !== 'tcc' && request.steps.length === 0,
  }
  return {
    gid,
    ack: 'durable',
    content: contentOf(ticket, note.request),
    definition: { ...definition, note: writeNote(note) },
  }
}

/** Returns the same content for the same ticket and request, whatever a topic's subscribers are by now. */
export function contentOf(ticket: string, request: string): string {
  return `dtm ${ticket} ${request}`
}

/**
 * How long the answer waits for the end if the caller asked for the result. A `request_timeout` that was sent is also
 * the caller's own: Go's and Python's clients (Python's sends 8) give up when it is over.
 */
export function waitMsOf({ request_timeout }: DtmRequest): number {
  const callerMs = request_timeout > 0 ? request_timeout * 1_000 : CALLER_WAIT_MS
  return Math.min(callerMs - Math.min(ANSWER_MARGIN_MS, callerMs / 10), WAIT_MS_MAX)
}

/** Without what tells of the asking only, since a client that asks again may wait this time, and what is not read. */
export function requestDigest(request: DtmRequest): string {
  const { wait_result: _waits, rollback_reason: _reason, status: _status, ...content } = request
  return hash('sha256', JSON.stringify(content))
}

function shownIntervalS({ retry_interval, timeout_to_fail }: DtmRequest): number {
  if (retry_interval > 0) return retry_interval
  return timeout_to_fail > 0 && timeout_to_fail < RETRY_INTERVAL_S ? timeout_to_fail : RETRY_INTERVAL_S
}
