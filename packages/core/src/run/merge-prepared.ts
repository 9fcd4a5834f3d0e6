/**
 * What the row has beside what we have, for the kinds that are prepared first. Prepared turns once, into submitted or
 * into its abort: the first durable turn is the one, and a decision of ours that was refused is taken again on top of
 * what else came before it.
 */
import type { Status } from '@counterstep/protocol'
import { disowned, mapOps, retriedNow, withoutAttention } from '../rules/op-progress.ts'
import { foldTcc } from '../rules/tcc.ts'
import { isFinal, type MessageTransaction, type TccTransaction } from '../transaction.ts'

type Prepared<T> = Extract<T, { readonly status: 'prepared' }>
type Unfinished<T> = T extends { readonly finishedAt: number } ? never : T
type Two = TccTransaction | MessageTransaction
type Stopped = Extract<Two, { readonly status: 'stopped' }>

/** `durable` is the last status of ours that the store had: while it was prepared, nothing has been called for a decision. */
export function learnTcc(
  ours: TccTransaction,
  stored: Unfinished<TccTransaction>,
  durable: Status,
): TccTransaction {
  if (stored.status === 'prepared') return decidedAgain(ours, stored)
  // Somebody else's decision, perhaps about branches that we do not know.
  if (durable === 'prepared')
    return ours.status === 'stopped' ? stoppedOnTop(ours, stored) : mapOps(stored, disowned)
  if (ours.status === 'stopped' || turnOf(ours) === turnOf(stored)) return withNudges(ours, stored)
  return mapOps(stored, disowned)
}

export function learnMessage(
  ours: MessageTransaction,
  stored: Unfinished<MessageTransaction>,
  durable: Status,
): MessageTransaction {
  // What its sender has answered stays true.
  if (stored.status === 'prepared' || turnOf(ours) === turnOf(stored)) return withNudges(ours, stored)
  if (ours.status !== 'stopped') return mapOps(stored, disowned)
  return durable === 'prepared' ? stoppedOnTop(ours, stored) : withNudges(ours, stored)
}

/** A branch that was registered meanwhile belongs to the decision. */
function decidedAgain(ours: TccTransaction, stored: Prepared<TccTransaction>): TccTransaction {
  switch (ours.status) {
    case 'prepared':
      return stored
    case 'stopped':
      return stoppedOnTop(ours, stored)
    case 'submitted':
    case 'succeeded':
      return foldTcc(stored, { type: 'submit-asked' }, ours.updatedAt).next
    case 'aborting':
    case 'failed': {
      const abort = { ...ours.abort, branches: [...stored.branches.keys()] }
      return { ...stored, status: 'aborting', abort, updatedAt: ours.updatedAt }
    }
  }
}

function turnOf({ status }: Two): 'none' | 'forward' | 'backward' {
  if (status === 'prepared') return 'none'
  return status === 'submitted' || status === 'succeeded' ? 'forward' : 'backward'
}

function withNudges<T extends Two>(ours: T, stored: Two): T {
  const { nudges } = stored
  if (nudges <= ours.nudges) return ours
  return isFinal(ours) ? { ...ours, nudges } : { ...retriedNow(ours, stored.updatedAt), nudges }
}

function stoppedOnTop<T extends Two>({ finishedAt, updatedAt }: Stopped, stored: T) {
  return { ...withoutAttention(stored), status: 'stopped' as const, finishedAt, updatedAt }
}
