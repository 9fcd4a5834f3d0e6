/**
 * Merges a row that another node changed into our workflow. Only its owner plans, so the steps, the plan in hand and the order
 * of what has ended are ours; the row has commands and signals. What we know and the row lacks was never acted on if it had to
 * be durable first, and else it is a fact.
 */
import { mapOps, releaseOrphanedCall, retryNow } from '../rules/op-progress.ts'
import { giveUpForward, mayHaveRun } from '../rules/workflow-abort.ts'
import { fromSaga, listTakers, toSaga } from '../rules/workflow-steps.ts'
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
  if (known.generation?.number !== stored.generation?.number) return takeStored(known, stored)
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

/**
 * Our generation is not durable, and that of the row is gone from our memory. So the row is taken as its next owner would take
 * it. No call of ours is under way, since a generation begins only when all have ended.
 */
function takeStored({ epoch, manualRetries }: WorkflowTransaction, stored: Unfinished): Unfinished {
  return {
    ...mapOps(stored, releaseOrphanedCall),
    epoch,
    manualRetries: Math.max(manualRetries, stored.manualRetries),
    sentUnknown: true,
  }
}

/** A signal that the row has was acknowledged, so it stands, whatever we have decided meanwhile. */
function mergeStoredSignals(
  known: WorkflowTransaction,
  stored: WorkflowTransaction,
  storeNow: number,
): WorkflowTransaction {
  const saga = takeStoredSignals(toSaga(known), toSaga(stored))
  const takers = listTakers({ steps: known.steps, branches: saga.branches })
  const merged = settleSignals(saga, storeNow, takers)
  const { signals: _, ...rest } = known
  return fromSaga(rest as WorkflowTransaction, merged)
}

/**
 * Steps that we have planned and the row lacks were never called, and never will be. What has run under a grant is ours, too: the
 * row may have a seal where we know how the step ended, and its list of steps ends with its own seals.
 */
function withAbort(
  ours: Exclude<WorkflowTransaction, { status: 'failed' | 'stopped' }>,
  stored: Aborting,
): Aborting {
  const isCommon = (position: number) => ours.steps[position]?.id === stored.steps[position]?.id
  const abort = { ...stored.abort, branches: stored.abort.branches.filter(isCommon) }
  if (ours.status === 'aborting') return uniteAborts(ours, { ...stored, abort })
  const {
    finishedAt: _,
    noReturnAt: __,
    ...facts
  } = { finishedAt: 0, noReturnAt: 0, ...giveUpForward({ ...ours, sentUnknown: true }) }
  const granted = facts.branches.flatMap((progress, position) =>
    mayHaveRun(facts.steps[position], progress) ? [position] : [],
  )
  const branches = [...new Set([...abort.branches, ...granted])].sort((a, b) => a - b)
  return {
    ...facts,
    status: 'aborting',
    abort: { ...abort, branches },
    updatedAt: stored.updatedAt,
  }
}
