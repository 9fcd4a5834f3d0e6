import {
  assert,
  type BranchCall,
  buildRequest,
  type CallKey,
  getBranchTargets,
  isProducer,
  type Run,
  type SagaTransaction,
  type Transaction,
} from '@counterstep/core'
import { type BranchId, KEPT_VALUE_BYTES_MAX } from '@counterstep/protocol'

/** DTM's name for the query-back, which belongs to no branch. */
const CHECK_ID = '00' as BranchId

/** Builds the request for one op of one branch. */
export function buildBranchCall(
  { transaction }: Run,
  call: CallKey,
  attempt: number,
  timeoutMsMax: number,
): BranchCall {
  const url = getCallUrl(transaction, call)
  const { definition, gid, kind, createdAt, epoch } = transaction
  const common = {
    gid,
    kind,
    op: call.op,
    attempt,
    epoch,
    acceptedAt: createdAt,
    wordsCount: definition.wordsCount ?? false,
  }
  if (call.op === 'msg') {
    assert(definition.kind === 'message' && definition.check !== undefined, 'a message without a query-back')
    const { headers } = definition.check
    const timeoutMs = Math.min(definition.timeoutMs, timeoutMsMax)
    return {
      ...common,
      branchId: CHECK_ID,
      method: 'GET',
      url,
      body: '',
      contentType: '',
      headers,
      timeoutMs,
    }
  }
  const target = getBranchTargets(transaction)[call.branch]
  assert(target !== undefined, 'a call without a target')
  const built: BranchCall = {
    ...common,
    branchId: target.id,
    // DTM does the same, and an empty body has no content to post.
    method: target.body === '' && common.wordsCount ? 'GET' : 'POST',
    url,
    body: target.body,
    contentType: target.contentType,
    headers: definition.kind === 'tcc' ? { ...definition.headers, ...target.headers } : target.headers,
    // The transaction may have been stored under a higher limit.
    timeoutMs: Math.min(target.timeoutMs ?? definition.timeoutMs, timeoutMsMax),
  }
  return transaction.kind === 'saga' && transaction.definition.values !== undefined
    ? fillCall(built, transaction, call)
    : built
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
  const url = findUrl(transaction, call)
  assert(url !== undefined, 'a call without a target')
  return url
}

function findUrl(transaction: Transaction, { branch, op }: CallKey): string | undefined {
  switch (transaction.kind) {
    case 'saga': {
      const target = transaction.definition.branches[branch]
      return op === 'action' ? target?.action : target?.compensation
    }
    case 'tcc': {
      const target = transaction.registered[branch]
      return op === 'confirm' ? target?.confirm : target?.cancel
    }
    case 'message': {
      const { branches, check } = transaction.definition
      return op === 'msg' ? check?.url : branches[branch]?.action
    }
  }
}
