/** Finds the requests of a saga that are due and cannot be built from the values that there are. */
import type { SagaOp, SagaTransaction } from '../transaction.ts'
import { findUnusableValue, type UnusableRequest } from '../values/build-request.ts'
import { describeUnsendable } from './op-progress.ts'
import { makeActionChooser, makeCompensationChooser, type NextOp } from './saga-effects.ts'

type Submitted = Extract<SagaTransaction, { readonly status: 'submitted' }>
type Aborting = Extract<SagaTransaction, { readonly status: 'aborting' }>

/**
 * Finds the first action that is due and whose request cannot be built. Nothing was sent of it, and asking again would
 * change nothing, so the saga turns around.
 */
export function findUnusable(saga: Submitted): UnusableRequest | undefined {
  if (saga.definition.values === undefined) return undefined
  return findUnbuildable(saga, 'action', makeActionChooser(saga))
}

/** Asks for a person where a compensation is due and cannot be built, because a compensation is never given up. */
export function markUnusable(saga: Aborting): Aborting {
  if (saga.definition.values === undefined || saga.attention !== undefined) return saga
  const unusable = findUnbuildable(saga, 'compensate', makeCompensationChooser(saga))
  if (unusable === undefined) return saga
  const { branch, reason } = unusable
  return { ...saga, attention: describeUnsendable(saga, { branch, op: 'compensate' }, reason) }
}

/** A request that was sent once can be built, because its values do not change. */
function findUnbuildable(saga: SagaTransaction, op: SagaOp, next: NextOp): UnusableRequest | undefined {
  for (const branch of saga.branches.keys()) {
    if (next(branch)?.state !== 'idle') continue
    const reason = findUnusableValue(saga, branch, op)
    if (reason !== undefined) return { branch, reason }
  }
  return undefined
}
