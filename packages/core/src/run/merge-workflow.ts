/**
 * Merges a row that another node changed into our workflow. Only its owner plans, so the steps, the plan in hand and the order
 * of what has ended are ours; the row has commands and signals. What we know and the row lacks was never acted on if it had to
 * be durable first, and else it is a fact.
 */
import { retryNow } from '../rules/op-progress.ts'
import { giveUpAction } from '../rules/saga.ts'
import { withoutPlanCall } from '../rules/workflow.ts'
import { fromSaga, toSaga } from '../rules/workflow-steps.ts'
import { isFinal, type WorkflowTransaction } from '../transaction.ts'
import { settleSignals, takeStoredSignals } from './merge-signals.ts'
import { uniteAborts } from './unite-aborts.ts'

type Unfinished = Extract<WorkflowTransaction, { readonly status: 'submitted' | 'aborting' }>
type Aborting = Extract<WorkflowTransaction, { readonly status: 'aborting' }>

export function mergeWorkflow(
  known: WorkflowTransaction,
  stored: Unfinished,
  storeNow: number,
): WorkflowTransaction {
  const ours = mergeStoredSignals(known, stored, storeNow)
  const { manualRetries } = stored
  // Our end stays: it was decided on top of a durable abort, or by a stop that was given here.
  if (ours.status === 'failed') return { ...ours, manualRetries }
  if (ours.status === 'stopped')
    return { ...ours, manualRetries, ...(stored.status === 'aborting' ? { abort: stored.abort } : {}) }
  const decided = stored.status === 'aborting' ? withAbort(ours, stored) : ours
  if (manualRetries <= ours.manualRetries || isFinal(decided)) return decided
  return { ...retryNow(decided, stored.updatedAt), manualRetries }
}

/** A signal that the row has was acknowledged, so it stands, whatever we have decided meanwhile. */
function mergeStoredSignals(
  known: WorkflowTransaction,
  stored: WorkflowTransaction,
  storeNow: number,
): WorkflowTransaction {
  const merged = settleSignals(takeStoredSignals(toSaga(known), toSaga(stored)), storeNow)
  const { signals: _, ...rest } = known
  return fromSaga(rest as WorkflowTransaction, merged)
}

/** Steps that we have planned and the row lacks were never called, and never will be. */
function withAbort(
  ours: Exclude<WorkflowTransaction, { status: 'failed' | 'stopped' }>,
  stored: Aborting,
): Aborting {
  if (ours.status === 'aborting') return uniteAborts(ours, stored)
  const {
    finishedAt: _,
    noReturnAt: __,
    ...facts
  } = { finishedAt: 0, noReturnAt: 0, ...withoutPlanCall(ours) }
  return {
    ...facts,
    status: 'aborting',
    abort: stored.abort,
    branches: ours.branches.map(giveUpAction),
    sentUnknown: true,
    updatedAt: stored.updatedAt,
  }
}
