import type { SagaDefinition } from '@counterstep/core'
import { DEADLINE_MS_MAX, isGrpcUrl } from '@counterstep/protocol'
import { refuse } from '../wire/answer.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { readBranchHeaders } from './branch-headers.ts'
import { buildBranchId } from './branch-id.ts'
import { readBranchUrl, type UrlRules } from './branch-url.ts'
import { buildCommonDefinition } from './common-definition.ts'
import { readSagaOrder, type SagaOrder } from './custom-data.ts'
import { NO_BRANCH } from './no-branch.ts'
import { BodyCount, buildContent, readPayloads } from './payload.ts'
import { toSpanMs } from './to-span-ms.ts'

/** Builds the definition of a saga. Throws AnsweredError for a saga that cannot run. */
export function buildSagaDefinition(request: DtmRequest, checks: Omit<UrlRules, 'protocol'>): SagaDefinition {
  const order = readSagaOrder(request.custom_data)
  const count = request.steps.length
  const { headers, contentType } = readBranchHeaders(request.branch_headers, request.protocol)
  // This bounds the number of steps, so it comes before their order is checked.
  const payloads = readPayloads(request)
  if (order.concurrent) refuseBadOrder(order, count)
  const rules = { ...checks, protocol: request.protocol }
  const bodies = new BodyCount()
  const branches = payloads.map((payload, step) => {
    const { action = '', compensate = '' } = request.steps[step] ?? {}
    const urls = { action: readBranchUrl(action, rules), compensation: readBranchUrl(compensate, rules) }
    const content = buildContent(payload, Object.values(urls), { contentType, protocol: request.protocol })
    bodies.add(content.body)
    return {
      id: buildBranchId(step),
      ...urls,
      ...content,
      headers,
      after: findPredecessors(order, step),
    }
  })
  const callsGrpc = branches.some(({ action, compensation }) => [action, compensation].some(isGrpcUrl))
  const { timeout_to_fail } = request
  return {
    kind: 'saga',
    ...buildCommonDefinition(request),
    ...(callsGrpc ? { callsGrpc } : {}),
    branches: branches.length === 0 ? [{ ...NO_BRANCH, compensation: '', after: [] }] : branches,
    ...(timeout_to_fail > 0
      ? {
          deadlineMs: toSpanMs('timeout_to_fail', timeout_to_fail, DEADLINE_MS_MAX),
          // DTM checks its timeout only between calls, so a last action that succeeds after the timeout still counts.
          lastActionsMayEndLate: true,
        }
      : {}),
  }
}

function findPredecessors({ concurrent, orders }: SagaOrder, step: number): readonly number[] {
  if (concurrent) return orders.get(step) ?? []
  return step === 0 ? [] : [step - 1]
}

/** Throws for an order that names a missing step or has a cycle. DTM stores such a saga and never ends it. */
function refuseBadOrder({ orders }: SagaOrder, count: number): void {
  for (const [step, before] of orders) {
    const missing = [step, ...before].find((position) => position >= count)
    if (missing !== undefined) throw refuse(`custom_data: orders name step ${missing} of ${count}`)
  }
  const left = new Set(orders.keys())
  for (let isTaking = true; isTaking; ) {
    const free = [...left].filter((step) => !orders.get(step)?.some((before) => left.has(before)))
    for (const step of free) left.delete(step)
    isTaking = free.length > 0
  }
  const [first] = left
  if (first !== undefined) throw refuse(`custom_data: orders wait in a circle at step ${first}`)
}
