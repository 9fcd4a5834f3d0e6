import type { CheckUrl, MessageBranch, MessageDefinition } from '@counterstep/core'
import { BODY_BYTES_MAX, BRANCHES_MAX, DEADLINE_MS_MAX, DELAY_MS_MAX } from '@counterstep/protocol'
import { refuse, refuseOver } from '../wire/answer.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { type BranchHeaders, readBranchHeaders } from './branch-headers.ts'
import { branchIdAt } from './branch-id.ts'
import { readBranchUrl } from './branch-url.ts'
import { commonDefinition, TIMEOUT_TO_FAIL_S } from './common-definition.ts'
import { readDelayS } from './custom-data.ts'
import { NO_BRANCH } from './no-branch.ts'
import { payloadsOf } from './payload.ts'
import { spanMs } from './to-span-ms.ts'

/** The parts that a message is read with besides its request. */
export interface MessageContext {
  readonly checkUrl: CheckUrl
  readonly subscribersOf: SubscribersOf
  /** Whether branch ids must do without a `-`, so that those of a topic have a dot in its place. Default: false. */
  readonly plainIds?: boolean
}

/** The URLs of those that have subscribed to a topic; none: there is no such topic. */
export type SubscribersOf = (topic: string) => Promise<readonly string[]>

const TOPIC = 'topic://'

/** `prepared`: its sender has still to say whether its database transaction has committed, or is asked. */
export async function messageDefinition(
  request: DtmRequest,
  phase: 'prepared' | 'submitted',
  context: MessageContext,
): Promise<MessageDefinition> {
  const delayMs = spanMs('delay', readDelayS(request.custom_data), DELAY_MS_MAX)
  const seconds = request.timeout_to_fail > 0 ? request.timeout_to_fail : TIMEOUT_TO_FAIL_S
  const branchHeaders = readBranchHeaders(request.branch_headers)
  const url = readBranchUrl(request.query_prepared, { ...context, protocol: request.protocol })
  const afterMs = spanMs('timeout_to_fail', seconds, DEADLINE_MS_MAX)
  return {
    kind: 'message',
    ...commonDefinition(request),
    branches: await branchesOf(request, branchHeaders, context),
    concurrent: request.concurrent,
    ...(delayMs === 0 ? {} : { delayMs }),
    ...(phase === 'prepared' ? { check: { url, afterMs, headers: branchHeaders.headers } } : {}),
  }
}

async function branchesOf(
  request: DtmRequest,
  { headers, contentType }: BranchHeaders,
  { checkUrl, subscribersOf, plainIds = false }: MessageContext,
): Promise<readonly MessageBranch[]> {
  const payloads = payloadsOf(request, contentType)
  const rules = { checkUrl, protocol: request.protocol }
  const branches: MessageBranch[] = []
  for (const [step, { action = '' }] of request.steps.entries()) {
    const urls = action.startsWith(TOPIC) ? await subscribersOf(action.slice(TOPIC.length)) : [action]
    if (urls.length === 0) throw refuse('topic not found')
    for (const [subscriber, url] of urls.entries()) {
      branches.push({
        id: urls.length === 1 ? branchIdAt(step) : branchIdAt(step, subscriber, plainIds ? '.' : '-'),
        action: readBranchUrl(url, rules),
        body: payloads[step] ?? '',
        contentType,
        headers,
      })
    }
  }
  if (branches.length > BRANCHES_MAX) throw refuseOver(`more than ${BRANCHES_MAX} branches`)
  // Each subscriber has a payload of its own, so a small request could be stored as a large one.
  if (branches.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0) > BODY_BYTES_MAX)
    throw refuseOver(`the payloads of all branches are over ${BODY_BYTES_MAX} bytes`)
  return branches.length === 0 ? [NO_BRANCH] : branches
}
