/** Builds the body of a call from the run's transaction, which may have been read back from the store. */
import {
  assert,
  buildRequest,
  type CallKey,
  CHECK,
  getBranchTargets,
  type SagaTransaction,
  type Transaction,
} from '@counterstep/core'
import { withValues } from '../mutants/value-mutants.ts'
import type { Flaw } from '../mutants/wiring.ts'

/** Finds the value that a branch answered last, which need not be the recorded one. */
export type FindLastValue = (branch: number) => string | undefined

export function buildBody(
  transaction: Transaction,
  { branch, op }: CallKey,
  flaw: Flaw | undefined,
  findLastValue: FindLastValue,
): string {
  if (branch === CHECK) return ''
  const targets = getBranchTargets(transaction)
  if (flaw === 'payload-of-neighbour') return targets[(branch + 1) % targets.length]?.body ?? ''
  if (transaction.kind !== 'saga') {
    const body = targets[branch]?.body ?? ''
    return flaw === 'payload-reparsed' ? reparse(body) : body
  }
  assert(op === 'action' || op === 'compensate', 'a saga has no other ops')
  const saga = flaw === 'value-of-last-answer' ? withValues(transaction, findLastValue) : transaction
  return spoil(buildRequest(saga, branch, op).body, saga, flaw)
}

function spoil(body: string, { definition }: SagaTransaction, flaw: Flaw | undefined): string {
  const hasValues = definition.values !== undefined
  if (flaw === 'payload-reparsed' && !hasValues) return reparse(body)
  if (flaw === 'value-reparsed' && hasValues) return reparse(body)
  return flaw === 'template-in-payload' ? body.replace('{"$from":"b0"}', 'null') : body
}

/** Parses and writes the body again, as if it were a value and not bytes. */
function reparse(body: string): string {
  return body.startsWith('{') ? JSON.stringify(JSON.parse(body)) : body
}
