/**
 * Someone gave a command under our token: the row has it, we have branch results that the row has not.
 * The first durable write wins, so the command counts, and our results are facts that stay.
 */
import { assert } from '../errors.ts'
import type { StoredTransaction } from '../ports/store.ts'
import { decodeTransaction, FORMAT } from '../record/record.ts'
import { retriedNow } from '../rules/op-progress.ts'
import { actionGivenUp } from '../rules/saga.ts'
import { type AbortDecision, isFinal, type SagaTransaction, type Transaction } from '../transaction.ts'
import { learnMessage, learnTcc } from './merge-prepared.ts'
import type { Run } from './run.ts'

/** Undefined: it is not ours any more, or newer code has written it: the lease runs out and that code takes it. */
export function learn(run: Run, row: StoredTransaction | undefined, now: number): Run | undefined {
  if (row === undefined || row.token !== run.token || row.format > FORMAT) return undefined
  const sentListKnown = run.sentListKnown && row.sentList !== 'unknown'
  const stored = decodeTransaction(row)
  const known = { ...run, version: row.version, durableTransaction: stored, sentListKnown }
  if (isFinal(stored)) return { ...known, transaction: stored, durable: run.changed }
  // Given back, though we did not hear of it: whoever claims it goes on.
  if (!row.owned) return undefined
  const changed = run.changed + 1
  // Strong: one more save, so that the row has our results before anything else is done on top of the command.
  return {
    ...known,
    transaction: merge(run, stored),
    changed,
    gate: changed,
    dirtySince: run.dirtySince ?? now,
  }
}

function merge({ transaction: ours, durableTransaction }: Run, stored: Transaction): Transaction {
  assert(!isFinal(stored), 'a final row is taken as it is')
  if (ours.kind === 'saga' && stored.kind === 'saga') return mergeSaga(ours, stored)
  if (ours.kind === 'tcc' && stored.kind === 'tcc') return learnTcc(ours, stored, durableTransaction.status)
  assert(ours.kind === 'message' && stored.kind === 'message', 'a row has changed its kind')
  return learnMessage(ours, stored, durableTransaction.status)
}

type Unfinished = Extract<SagaTransaction, { status: 'submitted' | 'aborting' }>
type Aborting = Extract<SagaTransaction, { status: 'aborting' }>

function mergeSaga(ours: SagaTransaction, stored: Unfinished): SagaTransaction {
  // What we have decided on top of a durable abort, or a stop given here, stands: only its save was refused.
  if (ours.status === 'failed') return { ...ours, nudges: stored.nudges }
  if (ours.status === 'stopped') {
    return {
      ...ours,
      nudges: stored.nudges,
      ...(stored.status === 'aborting' ? { abort: stored.abort } : {}),
    }
  }
  const decided = stored.status === 'aborting' ? withAbort(ours, stored) : ours
  if (stored.nudges <= ours.nudges || isFinal(decided)) return decided
  return { ...retriedNow(decided, stored.updatedAt), nudges: stored.nudges }
}

function withAbort(
  ours: Exclude<SagaTransaction, { status: 'failed' | 'stopped' }>,
  stored: Aborting,
): Aborting {
  if (ours.status === 'aborting')
    return {
      ...ours,
      abort: widest(ours.abort, stored.abort),
      sentUnknown: ours.sentUnknown || stored.sentUnknown,
    }
  const { finishedAt: _, ...facts } = { finishedAt: 0, ...ours }
  const branches = ours.branches.map(actionGivenUp)
  return {
    ...facts,
    status: 'aborting',
    abort: stored.abort,
    branches,
    sentUnknown: true,
    updatedAt: stored.updatedAt,
  }
}

/** Nobody shortens the list. */
function widest(ours: AbortDecision, stored: AbortDecision): AbortDecision {
  const branches = [...new Set([...ours.branches, ...stored.branches])].sort((a, b) => a - b)
  return { ...stored, branches }
}
