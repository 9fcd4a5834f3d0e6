/** Builds the request of a call from the run's transaction, which may have been read back from the store. */
import {
  assert,
  buildRequest,
  type CallKey,
  CHECK,
  findEdit,
  getBranchTargets,
  type SagaOp,
  type SagaTransaction,
  type Transaction,
} from '@counterstep/core'
import { withoutValues, withValues } from '../mutants/value-mutants.ts'
import type { Flaw } from '../mutants/wiring.ts'

/** The parts of a request that the auditor checks. */
export interface SentRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Finds the value that a branch answered last, which need not be the recorded one. */
export type FindLastValue = (branch: number) => string | undefined

export function withBody(body: string): SentRequest {
  return { url: '', headers: {}, body }
}

export function buildCallRequest(
  transaction: Transaction,
  { branch, op }: CallKey,
  flaw: Flaw | undefined,
  findLastValue: FindLastValue,
): SentRequest {
  if (branch === CHECK) return withBody('')
  const targets = getBranchTargets(transaction)
  if (flaw === 'payload-of-neighbour') return withBody(targets[(branch + 1) % targets.length]?.body ?? '')
  if (transaction.kind !== 'saga') {
    const body = findEdit(transaction, { branch, op })?.body ?? targets[branch]?.body ?? ''
    return withBody(flaw === 'payload-reparsed' ? reparse(body) : body)
  }
  assert(op === 'action' || op === 'compensate', 'a saga has no other ops')
  return spoil(buildRequest(transaction, branch, op), { saga: transaction, branch, op }, flaw, findLastValue)
}

interface SagaCall {
  readonly saga: SagaTransaction
  readonly branch: number
  readonly op: SagaOp
}

function spoil(
  request: SentRequest,
  { saga, branch, op }: SagaCall,
  flaw: Flaw | undefined,
  findLastValue: FindLastValue,
): SentRequest {
  const hasValues = saga.definition.values !== undefined
  const { body } = request
  switch (flaw) {
    case 'payload-reparsed':
      return hasValues ? request : { ...request, body: reparse(body) }
    case 'value-reparsed':
      return hasValues ? { ...request, body: reparse(body) } : request
    case 'template-in-payload':
      return { ...request, body: body.replace('{"$from":"b0"}', 'null') }
    case 'value-of-last-answer':
      return { ...request, body: buildRequest(withValues(saga, findLastValue), branch, op).body }
    case 'url-of-last-answer':
      return { ...request, url: buildRequest(withValues(saga, findLastValue), branch, op).url }
    case 'header-of-last-answer':
      return { ...request, headers: buildRequest(withValues(saga, findLastValue), branch, op).headers }
    case 'else-in-url':
      return op === 'action'
        ? request
        : { ...request, url: buildRequest(withoutValues(saga), branch, op).url }
    default:
      return request
  }
}

/** Parses and writes the body again, as if it were a value and not bytes. */
function reparse(body: string): string {
  return body.startsWith('{') ? JSON.stringify(JSON.parse(body)) : body
}
