import type { Definition, Submission } from '@counterstep/core'
import { type Gid, WAIT_MS_MAX } from '@counterstep/protocol'
import type { DtmRequest } from '../wire/read-request.ts'
import { readBranchHeaders } from './branch-headers.ts'
import { RETRY_INTERVAL_S } from './common-definition.ts'
import { type Note, writeNote, writeOptions } from './note.ts'

/** If the client names no timeout, the answer waits this long. DTM's own pass over a saga ends within it. */
const CALLER_WAIT_MS = 8_000
/** The answer is sent this much before the caller gives up, or a tenth of its wait before if that is less. */
const ANSWER_MARGIN_MS = 500

export type NamedSubmission = Submission & { readonly gid: Gid }

/** Builds what the engine accepts. The `ticket` is a new one for a new transaction, or the stored one for a repeat. */
export function buildSubmission(
  gid: Gid,
  request: DtmRequest,
  definition: Definition,
  ticket: string,
): NamedSubmission {
  const note: Note = {
    ticket,
    request: request.contentHash,
    options: writeOptions(request),
    protocol: request.protocol,
    queryPrepared: request.query_prepared,
    customData: request.custom_data,
    retryIntervalS: readIntervalS(request),
    waitResult: request.wait_result,
    waitMs: readWaitMs(request),
    contentType: readBranchHeaders(request.branch_headers, request.protocol).contentType,
    isStepless: 'branches' in definition && request.steps.length === 0,
  }
  return {
    gid,
    ack: 'durable',
    content: toContent(ticket, note.request),
    definition: { ...definition, note: writeNote(note) },
  }
}

/** Returns the same content for the same ticket and request, even if a topic's subscribers have changed meanwhile. */
export function toContent(ticket: string, request: string): string {
  return `dtm ${ticket} ${request}`
}

/**
 * Returns how long the answer waits for the end if the caller asked for the result. A `request_timeout` in the request
 * is also the caller's own timeout: the clients for Go and Python (which sends 8) give up after it.
 */
export function readWaitMs({ request_timeout }: DtmRequest): number {
  const callerMs = request_timeout > 0 ? request_timeout * 1_000 : CALLER_WAIT_MS
  return Math.min(callerMs - Math.min(ANSWER_MARGIN_MS, callerMs / 10), WAIT_MS_MAX)
}

function readIntervalS({ retry_interval, timeout_to_fail }: DtmRequest): number {
  if (retry_interval > 0) return retry_interval
  return timeout_to_fail > 0 && timeout_to_fail < RETRY_INTERVAL_S ? timeout_to_fail : RETRY_INTERVAL_S
}
