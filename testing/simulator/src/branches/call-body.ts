/** Builds the body of a call from the run's transaction, which may have been read back from the store. */
import { type CallKey, CHECK, getBranchTargets, type Transaction } from '@counterstep/core'
import type { Flaw } from '../mutants/wiring.ts'

export function buildBody(transaction: Transaction, { branch }: CallKey, flaw: Flaw | undefined): string {
  if (branch === CHECK) return ''
  const targets = getBranchTargets(transaction)
  const isMixed = flaw === 'payload-of-neighbour'
  const body = targets[isMixed ? (branch + 1) % targets.length : branch]?.body ?? ''
  return flaw === 'payload-reparsed' ? reparse(body) : body
}

/** Parses and writes the body again, as if it were a value and not bytes. */
function reparse(body: string): string {
  return body.startsWith('{') ? JSON.stringify(JSON.parse(body)) : body
}
