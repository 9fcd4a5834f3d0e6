/**
 * Merges the stored row into our state, for the kinds that are prepared first. A prepared transaction is decided once: it
 * is submitted or aborted, and the first durable decision counts. When the save of our decision was refused, the decision
 * is made again on top of what else came before it.
 */
import type { Status } from '@counterstep/protocol'
import { mapOps, releaseOrphanedCall, retryNow, withoutAttention } from '../rules/op-progress.ts'
import { foldTwoPhase } from '../rules/two-phase.ts'
import { isFinal, type MessageTransaction, type TwoPhaseTransaction } from '../transaction.ts'

type Prepared<T> = Extract<T, { readonly status: 'prepared' }>
type Unfinished<T> = T extends { readonly finishedAt: number } ? never : T
type Two = TwoPhaseTransaction | MessageTransaction
type Stopped = Extract<Two, { readonly status: 'stopped' }>

/**
 * `durable` is the last status of ours that the store had. While it is prepared, no call has been made for a decision.
 */
export function mergeTwoPhase(
  ours: TwoPhaseTransaction,
  stored: Unfinished<TwoPhaseTransaction>,
  durable: Status,
): TwoPhaseTransaction {
  if (stored.status === 'prepared') return decideAgain(ours, stored)
  // Another node has decided, perhaps about branches that we do not know.
  if (durable === 'prepared')
    return ours.status === 'stopped' ? stopOnTop(ours, stored) : mapOps(stored, releaseOrphanedCall)
  if (ours.status === 'stopped' || readDirection(ours) === readDirection(stored))
    return withManualRetries(ours, stored)
  return mapOps(stored, releaseOrphanedCall)
}

export function mergeMessage(
  ours: MessageTransaction,
  stored: Unfinished<MessageTransaction>,
  durable: Status,
): MessageTransaction {
  // Our state stays, because the sender's answer in it stays true.
  if (stored.status === 'prepared' || readDirection(ours) === readDirection(stored))
    return withManualRetries(ours, stored)
  if (ours.status !== 'stopped') return mapOps(stored, releaseOrphanedCall)
  return durable === 'prepared' ? stopOnTop(ours, stored) : withManualRetries(ours, stored)
}

/** Makes our refused decision again, so that it includes branches that were registered meanwhile. */
function decideAgain(ours: TwoPhaseTransaction, stored: Prepared<TwoPhaseTransaction>): TwoPhaseTransaction {
  switch (ours.status) {
    case 'prepared':
      return stored
    case 'stopped':
      return stopOnTop(ours, stored)
    case 'submitted':
    case 'succeeded':
      return foldTwoPhase(stored, { type: 'submit-asked' }, ours.updatedAt).next
    case 'aborting':
    case 'failed': {
      const abort = { ...ours.abort, branches: [...stored.branches.keys()] }
      return { ...stored, status: 'aborting', abort, updatedAt: ours.updatedAt }
    }
  }
}

function readDirection({ status }: Two): 'none' | 'forward' | 'backward' {
  if (status === 'prepared') return 'none'
  return status === 'submitted' || status === 'succeeded' ? 'forward' : 'backward'
}

function withManualRetries<T extends Two>(ours: T, stored: Two): T {
  const { manualRetries } = stored
  if (manualRetries <= ours.manualRetries) return ours
  return isFinal(ours) ? { ...ours, manualRetries } : { ...retryNow(ours, stored.updatedAt), manualRetries }
}

function stopOnTop<T extends Two>({ finishedAt, updatedAt }: Stopped, stored: T) {
  return { ...withoutAttention(stored), status: 'stopped' as const, finishedAt, updatedAt }
}
