/**
 * Merges what the stored row has of signals into our state. A signal that another node has stored was acknowledged, so it
 * stands; one of ours that is not stored was not, and its command is given again.
 */
import { giveUpAction } from '../rules/saga.ts'
import { awaitsStart } from '../rules/saga-effects.ts'
import { haveAllSucceeded } from '../rules/saga-graph.ts'
import { takeKeptSignal } from '../rules/saga-signals.ts'
import { passWaits } from '../rules/saga-waits.ts'
import { type SagaBranchProgress, type SagaTransaction, UNTOUCHED } from '../transaction.ts'

type Submitted = Extract<SagaTransaction, { readonly status: 'submitted' }>

/**
 * Returns our state with the signals of the row, and with its waits for signals. A wait that only we have ended is open
 * again: the signal or the timeout that ended it was not stored. The open wait takes a signal that it may take now.
 */
export function mergeSignals(
  ours: SagaTransaction,
  stored: SagaTransaction,
  storeNow: number,
): SagaTransaction {
  if (ours.definition.branches.every(({ wait }) => wait?.type !== 'signal')) return ours
  return settleSignals(reopen(takeStoredSignals(ours, stored)), storeNow)
}

/**
 * Takes the signals of the row, and each wait for a signal as the row has it. The row of a workflow may lack a wait that we have
 * planned, or have the seal of a slot in its place. If a kept signal has ended such a wait here, the row still keeps that
 * signal, so the wait begins again and takes it anew.
 */
export function takeStoredSignals(ours: SagaTransaction, stored: SagaTransaction): SagaTransaction {
  const { signals: _, ...rest } = ours
  const branches = ours.branches.map((progress, branch) => {
    const { id, wait } = ours.definition.branches[branch] ?? {}
    const isCommon = stored.definition.branches[branch]?.id === id
    if (wait?.type !== 'signal') return progress
    if (isCommon) return chooseWait(progress, stored.branches[branch])
    return hasTakenSignal(progress) ? UNTOUCHED : progress
  })
  const signals = stored.signals === undefined ? {} : { signals: stored.signals }
  return { ...rest, ...signals, branches }
}

/** Gives the signals of the row to the waits that may take them now, in the order of `takers`. */
export function settleSignals(
  merged: SagaTransaction,
  storeNow: number,
  takers: Iterable<number> = merged.branches.keys(),
): SagaTransaction {
  // The row may show as open what our abort has closed.
  if (merged.status === 'aborting') return { ...merged, branches: merged.branches.map(giveUpAction) }
  if (merged.status !== 'submitted') return merged
  const given = giveKeptSignals(merged, storeNow, takers)
  // Before its start nothing of a saga opens. A wait that is open stays so, even if the store's clock was set back.
  return awaitsStart(given, storeNow) ? given : passWaits(given, storeNow).saga
}

/** The other node has kept the signals, because the row did not have the opening of these waits. */
function giveKeptSignals(saga: Submitted, storeNow: number, takers: Iterable<number>): Submitted {
  let given = saga
  for (const branch of takers)
    if (saga.branches[branch]?.action.state === 'open')
      given = takeKeptSignal(given, branch, storeNow) ?? given
  return given
}

function hasTakenSignal({ action: { state, error } }: SagaBranchProgress): boolean {
  return state === 'succeeded' && error === undefined
}

function chooseWait(ours: SagaBranchProgress, stored: SagaBranchProgress | undefined): SagaBranchProgress {
  if (stored === undefined) return ours
  // If the wait has opened here, that is a fact, though the row may not have it yet.
  return ours.action.state === 'open' && stored.action.state === 'idle' ? ours : stored
}

/** A saga whose end was not stored may have lost the signal that led to the end. If it has not, it ends again. */
function reopen(saga: SagaTransaction): SagaTransaction {
  if (saga.status !== 'succeeded' || haveAllSucceeded(saga)) return saga
  const { finishedAt: _, ...rest } = saga
  return { ...rest, status: 'submitted' }
}
