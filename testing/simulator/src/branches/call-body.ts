/** The bytes that a call carries: the branch's, as the runner has them, which may have read them back from the store. */
import { type CallKey, CHECK, getBranchTargets, type Transaction } from '@counterstep/core'
import type { Flaw } from '../mutants/wiring.ts'

export function bodyOf(transaction: Transaction, { branch }: CallKey, flaw: Flaw | undefined): string {
  if (branch === CHECK) return ''
  const targets = getBranchTargets(transaction)
  const isMixed = flaw === 'payload-of-neighbour'
  const body = targets[isMixed ? (branch + 1) % targets.length : branch]?.body ?? ''
  return flaw === 'payload-reparsed' ? reparsed(body) : body
}

/** As if it were a value and not bytes. */
function reparsed(body: string): string {
  return body.startsWith('{') ? JSON.stringify(JSON.parse(body)) : body
}
