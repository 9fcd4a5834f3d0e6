import type { CheckGrpc, CheckUrl, MessageBranch, MessageDefinition } from '@counterstep/core'
import { BRANCHES_MAX, DEADLINE_MS_MAX, DELAY_MS_MAX, isGrpcUrl } from '@counterstep/protocol'
import { refuse, refuseUnprocessable } from '../wire/answer.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { type BranchHeaders, readBranchHeaders } from './branch-headers.ts'
import { buildBranchId } from './branch-id.ts'
import { readBareUrl, readBranchUrl } from './branch-url.ts'
import { buildCommonDefinition, TIMEOUT_TO_FAIL_S } from './common-definition.ts'
import { readDelayS } from './custom-data.ts'
import { NO_BRANCH } from './no-branch.ts'
import { BodyCount, buildContent, readPayloads } from './payload.ts'
import { toSpanMs } from './to-span-ms.ts'

/** A message depends on these parts besides its request. */
export interface MessageContext {
  readonly checkUrl: CheckUrl
  /** Absent: no branch may be called over gRPC. */
  readonly checkGrpc?: CheckGrpc | undefined
  readonly findSubscribers: FindSubscribers
  /** If it is true, branch ids have no `-`, and those of a topic have a dot in its place. It is false by default. */
  readonly plainIds?: boolean
}

/** Returns the URLs that have subscribed to a topic. The list is empty if there is no such topic. */
export type FindSubscribers = (topic: string) => Promise<readonly string[]>

const TOPIC = 'topic://'

/**
 * Builds the definition of a message. In the phase `prepared` its sender's database transaction may still be open, so the
 * definition has a query-back.
 */
export async function buildMessageDefinition(
  request: DtmRequest,
  phase: 'prepared' | 'submitted',
  context: MessageContext,
): Promise<MessageDefinition> {
  const delayMs = toSpanMs('delay', readDelayS(request.custom_data), DELAY_MS_MAX)
  const seconds = request.timeout_to_fail > 0 ? request.timeout_to_fail : TIMEOUT_TO_FAIL_S
  const branchHeaders = readBranchHeaders(request.branch_headers, request.protocol)
  const url = readBareUrl(request.query_prepared, { ...context, protocol: request.protocol })
  const afterMs = toSpanMs('timeout_to_fail', seconds, DEADLINE_MS_MAX)
  const branches = await buildBranches(request, branchHeaders, context)
  const checkUrls = phase === 'prepared' ? [url] : []
  const callsGrpc = [...branches.map(({ action }) => action), ...checkUrls].some(isGrpcUrl)
  return {
    kind: 'message',
    ...buildCommonDefinition(request),
    ...(callsGrpc ? { callsGrpc } : {}),
    branches,
    concurrent: request.concurrent,
    ...(delayMs === 0 ? {} : { delayMs }),
    ...(phase === 'prepared' ? { check: { url, afterMs, headers: branchHeaders.headers } } : {}),
  }
}

async function buildBranches(
  request: DtmRequest,
  { headers, contentType }: BranchHeaders,
  { checkUrl, checkGrpc, findSubscribers, plainIds = false }: MessageContext,
): Promise<readonly MessageBranch[]> {
  const payloads = readPayloads(request)
  const rules = { checkUrl, checkGrpc, protocol: request.protocol }
  const branches: MessageBranch[] = []
  const bodies = new BodyCount()
  for (const [step, payload] of payloads.entries()) {
    const { action = '' } = request.steps[step] ?? {}
    const urls = action.startsWith(TOPIC) ? await findSubscribers(action.slice(TOPIC.length)) : [action]
    if (urls.length === 0) throw refuse('topic not found')
    // A hundred steps may each name a topic of a hundred subscribers, and each would get a copy of a payload that is checked anew.
    if (branches.length + urls.length > BRANCHES_MAX)
      throw refuseUnprocessable(`more than ${BRANCHES_MAX} branches`)
    for (const [subscriber, given] of urls.entries()) {
      const url = readBranchUrl(given, rules)
      const content = buildContent(payload, [url], { contentType, protocol: request.protocol })
      bodies.add(content.body)
      branches.push({
        id: urls.length === 1 ? buildBranchId(step) : buildBranchId(step, subscriber, plainIds ? '.' : '-'),
        action: url,
        ...content,
        headers,
      })
    }
  }
  return branches.length === 0 ? [NO_BRANCH] : branches
}
