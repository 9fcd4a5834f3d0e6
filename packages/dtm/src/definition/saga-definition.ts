import type { CheckUrl, SagaDefinition } from '@counterstep/core'
import { DEADLINE_MS_MAX } from '@counterstep/protocol'
import { refuse } from '../wire/answer.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { readBranchHeaders } from './branch-headers.ts'
import { branchIdAt } from './branch-id.ts'
import { readBranchUrl } from './branch-url.ts'
import { commonDefinition } from './common-definition.ts'
import { readSagaOrder, type SagaOrder } from './custom-data.ts'
import { NO_BRANCH } from './no-branch.ts'
import { payloadsOf } from './payload.ts'
import { spanMs } from './to-span-ms.ts'

/** Throws AnsweredError for what cannot run. */
export function sagaDefinition(request: DtmRequest, checkUrl: CheckUrl): SagaDefinition {
  const order = readSagaOrder(request.custom_data)
  const count = request.steps.length
  const { headers, contentType } = readBranchHeaders(request.branch_headers)
  // It bounds the steps, whose order is then looked at.
  const payloads = payloadsOf(request, contentType)
  if (order.concurrent) refuseBadOrder(order, count)
  const rules = { checkUrl, protocol: request.protocol }
  const branches = request.steps.map(({ action = '', compensate = '' }, step) => ({
    id: branchIdAt(step),
    action: readBranchUrl(action, rules),
    compensation: readBranchUrl(compensate, rules),
    body: payloads[step] ?? '',
    contentType,
    headers,
    after: predecessors(order, step),
  }))
  const { timeout_to_fail } = request
  return {
    kind: 'saga',
    ...commonDefinition(request),
    branches: branches.length === 0 ? [{ ...NO_BRANCH, compensation: '', after: [] }] : branches,
    ...(timeout_to_fail > 0
      ? {
          deadlineMs: spanMs('timeout_to_fail', timeout_to_fail, DEADLINE_MS_MAX),
          // DTM looks at its time-out between calls: a last action that succeeds after it has succeeded.
          lastActionsMayEndLate: true,
        }
      : {}),
  }
}

function predecessors({ concurrent, orders }: SagaOrder, step: number): readonly number[] {
  if (concurrent) return orders.get(step) ?? []
  return step === 0 ? [] : [step - 1]
}

/** DTM stores such a saga and never ends it. */
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
