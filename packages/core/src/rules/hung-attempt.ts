/**
 * Tells from the record of a transaction whether its next call has hung before. Such a call is made where it may take its
 * time. A call counts as hung if its last attempt ended at its time limit, or if its owner gave the transaction back or
 * died before it saw an answer.
 */
import type { OpProgress, Transaction } from '../transaction.ts'
import type { CallKey } from './events.ts'
import { findOp, listCalls } from './op-progress.ts'

/** The outcomes of attempts that lasted for as long as they might. */
const HUNG_OUTCOMES: ReadonlySet<string> = new Set(['timeout', 'connect-timeout'])

const OPS_OF_STATUS: Readonly<Record<string, readonly CallKey['op'][]>> = {
  prepared: ['msg'],
  submitted: ['action', 'confirm', 'commit'],
  aborting: ['compensate', 'cancel', 'rollback'],
}

/** Tells whether the last of so many attempts hung. `runs` tells of those that were answered. */
export function hasLastAttemptHung(attempts: number, runs: OpProgress['runs'] = []): boolean {
  if (attempts === 0) return false
  const last = runs.at(-1)
  return last === undefined || last.from + last.count - 1 < attempts || HUNG_OUTCOMES.has(last.outcome)
}

/** Tells whether a call that is under way has hung at the attempt before. */
export function hasHungBefore(transaction: Transaction, call: CallKey): boolean {
  const progress = findOp(transaction, call)
  return progress !== undefined && hasLastAttemptHung(progress.attempts - 1, progress.runs)
}

/** Tells whether a transaction that is given back goes on with a call that has hung. */
export function mayHangNext(transaction: Transaction): boolean {
  const ops = OPS_OF_STATUS[transaction.status] ?? []
  return listCalls(transaction).some((call) => {
    const progress = ops.includes(call.op) ? findOp(transaction, call) : undefined
    return (
      progress !== undefined && isUnfinished(progress) && hasLastAttemptHung(progress.attempts, progress.runs)
    )
  })
}

function isUnfinished({ state }: OpProgress): boolean {
  return state === 'idle' || state === 'calling' || state === 'waiting'
}
