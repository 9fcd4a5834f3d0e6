import {
  assert,
  type BranchCall,
  buildPlanCall,
  buildRequest,
  buildStepRequest,
  type CallKey,
  findAcceptedAt,
  findCallUrl,
  findContentEdit,
  getBranchTargets,
  hasNoUndo,
  hasTwoPhases,
  isForHandler,
  isJsonRpc,
  isProducer,
  mustUndo,
  type RecordedDefinition,
  type Run,
  type SagaTransaction,
  type Transaction,
  type WorkflowTransaction,
} from '@counterstep/core'
import { type BranchId, KEPT_VALUE_BYTES_MAX, OWN_CALL_ID, PLAN_BYTES_MAX } from '@counterstep/protocol'

/** Builds the request for one op of one branch. What an operator has edited goes before what was submitted. */
export function buildBranchCall(
  { transaction }: Pick<Run, 'transaction'>,
  call: CallKey,
  attempt: number,
  timeoutMsMax: number,
): BranchCall {
  const url = getCallUrl(transaction, call)
  const { definition, gid, kind, epoch } = transaction
  const common = {
    gid,
    kind,
    op: call.op,
    attempt,
    epoch,
    acceptedAt: findAcceptedAt(transaction),
    wordsCount: definition.wordsCount ?? false,
    ...(hasNoUndo(transaction, call) ? { hasNoUndo: true as const } : {}),
    ...(mustUndo(transaction, call) ? { mustUndo: true as const } : {}),
    ...(definition.trace === undefined ? {} : { trace: definition.trace }),
  }
  if (call.op === 'msg') {
    if (definition.kind === 'recorded') return buildCallback(definition, common, timeoutMsMax)
    assert(definition.kind === 'message' && definition.check !== undefined, 'a message without a query-back')
    const { headers } = definition.check
    const timeoutMs = Math.min(definition.timeoutMs, timeoutMsMax)
    return {
      ...common,
      branchId: OWN_CALL_ID as BranchId,
      method: 'GET',
      url,
      body: '',
      contentType: '',
      headers,
      timeoutMs,
    }
  }
  if (transaction.kind === 'workflow') return buildWorkflowCall(transaction, call, common, timeoutMsMax)
  const target = getBranchTargets(transaction)[call.branch]
  assert(target !== undefined, 'a call without a target')
  const submitted = hasTwoPhases(definition) ? { ...definition.headers, ...target.headers } : target.headers
  const {
    body = target.body,
    contentType = target.contentType,
    headers = submitted,
    timeoutMs = target.timeoutMs ?? definition.timeoutMs,
  } = findContentEdit(transaction, call) ?? {}
  const built: BranchCall = {
    ...common,
    branchId: target.id,
    // DTM does the same: an empty body has no content to post, and only XA posts it all the same.
    method: body === '' && common.wordsCount && kind !== 'xa' ? 'GET' : 'POST',
    url,
    body,
    contentType,
    headers,
    // The transaction may have been stored under a higher limit.
    timeoutMs: Math.min(timeoutMs, timeoutMsMax),
    ...(isJsonRpc(definition, url) ? { isJsonRpc: true, bodyBytesKept: KEPT_VALUE_BYTES_MAX } : {}),
  }
  return transaction.kind === 'saga' && transaction.definition.values !== undefined
    ? fillCall(built, transaction, call)
    : built
}

type Common = Pick<
  BranchCall,
  | 'gid'
  | 'kind'
  | 'op'
  | 'attempt'
  | 'epoch'
  | 'acceptedAt'
  | 'wordsCount'
  | 'hasNoUndo'
  | 'mustUndo'
  | 'trace'
>

/** DTM's client finds its workflow by the name that stands in place of the op. */
function buildCallback(
  { workflow, callback, timeoutMs }: RecordedDefinition,
  common: Common,
  timeoutMsMax: number,
): BranchCall {
  return {
    ...common,
    ...callback,
    branchId: OWN_CALL_ID as BranchId,
    method: 'POST',
    opInUrl: workflow,
    timeoutMs: Math.min(timeoutMs, timeoutMsMax),
  }
}

/**
 * Builds a plan call, or the call of a step. To a service the call of a workflow is that of a saga: only the handler knows
 * the kind. The journal has the whole answer of a step.
 */
function buildWorkflowCall(
  workflow: WorkflowTransaction,
  { branch, op }: CallKey,
  common: Common,
  timeoutMsMax: number,
): BranchCall {
  const { definition, steps } = workflow
  const method = 'POST'
  if (op === 'plan')
    return {
      ...common,
      ...{ branchId: OWN_CALL_ID as BranchId, method },
      ...buildPlanCall(workflow),
      timeoutMs: Math.min(definition.timeoutMs, timeoutMsMax),
      bodyBytesKept: PLAN_BYTES_MAX,
    }
  assert(op === 'action' || op === 'compensate', 'a workflow has no such op')
  const target = steps[branch]?.branch
  assert(target !== undefined, 'a call without a target')
  return {
    ...common,
    kind: isForHandler(workflow, branch) ? 'workflow' : 'saga',
    ...{ branchId: target.id, method },
    ...buildStepRequest(workflow, branch, op),
    timeoutMs: Math.min(target.timeoutMs ?? definition.timeoutMs, timeoutMsMax),
    ...(op === 'action' ? { bodyBytesKept: KEPT_VALUE_BYTES_MAX } : {}),
  }
}

/** Puts in what the request has from other branches, and asks for the whole answer where another request uses it. */
function fillCall(call: BranchCall, saga: SagaTransaction, { branch, op }: CallKey): BranchCall {
  assert(op === 'action' || op === 'compensate', 'a saga has no such op')
  const filled = { ...call, ...buildRequest(saga, branch, op) }
  return op === 'action' && isProducer(saga, branch)
    ? { ...filled, bodyBytesKept: KEPT_VALUE_BYTES_MAX }
    : filled
}

/**
 * Returns the URL of a call, in which the places `{name}` are not filled in yet. The origin of the URL is the real one.
 * An empty URL means that the call is not sent.
 */
export function getCallUrl(transaction: Transaction, call: CallKey): string {
  const url = findCallUrl(transaction, call)
  assert(url !== undefined, 'a call without a target')
  return url
}
