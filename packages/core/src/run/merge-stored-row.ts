/**
 * Merges a row that another node changed by a command under our token. The row has the command, and we have branch
 * results that the row lacks. The first durable write wins, so the command counts; our results are facts and stay.
 */
import { assert } from '../errors.ts'
import type { StoredTransaction } from '../ports/store.ts'
import { decodeTransaction, FORMAT } from '../record/record.ts'
import { retryNow, withoutAttention } from '../rules/op-progress.ts'
import { giveUpAction } from '../rules/saga.ts'
import { haveAllSucceeded } from '../rules/saga-graph.ts'
import { isFinal, isTwoPhase, type SagaTransaction, type Transaction } from '../transaction.ts'
import { mergeCommands, takeBackSkips } from './merge-operator.ts'
import { mergeMessage, mergeTwoPhase } from './merge-prepared.ts'
import { mergeRecorded } from './merge-recorded.ts'
import { mergeSignals } from './merge-signals.ts'
import { mergeWorkflow } from './merge-workflow.ts'
import { type Run, readStoreNow } from './run.ts'
import { uniteAborts } from './unite-aborts.ts'

/**
 * Returns the run with the row merged in. Undefined: the row is not ours any more, or newer code has written it. In the
 * second case the lease runs out, and a node with the newer code claims it.
 */
export function mergeStoredRow(run: Run, row: StoredTransaction | undefined, now: number): Run | undefined {
  if (row === undefined || row.token !== run.token || row.format > FORMAT) return undefined
  const sentListKnown = run.sentListKnown && row.sentList !== 'unknown'
  const stored = decodeTransaction(row)
  const known = { ...run, version: row.version, durableTransaction: stored, sentListKnown }
  if (isFinal(stored)) return { ...known, transaction: stored, lastSavedChange: run.lastChange }
  // The row was given back, though we did not hear of it: the node that claims it goes on.
  if (!row.owned) return undefined
  const lastChange = run.lastChange + 1
  const transaction = mergeAll(run, stored, readStoreNow(run, now))
  // The merge is a strong change, so that the row has our results before a call is based on the command.
  return {
    ...known,
    transaction,
    sentListKnown: sentListKnown && !transaction.sentUnknown,
    lastChange,
    lastStrongChange: lastChange,
    dirtySince: run.dirtySince ?? now,
  }
}

function mergeAll(run: Run, stored: Transaction, storeNow: number): Transaction {
  const ours = takeBackSkips(run.transaction, stored)
  return mergeCommands(merge({ ...run, transaction: ours }, stored, storeNow), ours, stored)
}

function merge(
  { transaction: ours, durableTransaction }: Run,
  stored: Transaction,
  storeNow: number,
): Transaction {
  assert(!isFinal(stored), 'a final row is taken as it is')
  if (ours.kind === 'saga' && stored.kind === 'saga') return mergeSaga(ours, stored, storeNow)
  if (ours.kind === 'workflow' && stored.kind === 'workflow') return mergeWorkflow(ours, stored, storeNow)
  if (isTwoPhase(ours) && isTwoPhase(stored)) return mergeTwoPhase(ours, stored, durableTransaction.status)
  if (ours.kind === 'recorded' && stored.kind === 'recorded') return mergeRecorded(ours, stored)
  assert(ours.kind === 'message' && stored.kind === 'message', 'a row has changed its kind')
  return mergeMessage(ours, stored, durableTransaction.status)
}

type Unfinished = Extract<SagaTransaction, { status: 'submitted' | 'aborting' }>
type Aborting = Extract<SagaTransaction, { status: 'aborting' }>

function mergeSaga(known: SagaTransaction, stored: Unfinished, storeNow: number): SagaTransaction {
  const ours = endIfDoneElsewhere(mergeSignals(known, stored, storeNow), { known, stored, storeNow })
  // Our end stays: it was decided on top of a durable abort, or by a stop that was given here, and only its save was
  // refused.
  if (ours.status === 'failed') return { ...ours, manualRetries: stored.manualRetries }
  if (ours.status === 'stopped') {
    return {
      ...ours,
      manualRetries: stored.manualRetries,
      ...(stored.status === 'aborting' ? { abort: stored.abort } : {}),
    }
  }
  const decided = stored.status === 'aborting' ? withAbort(ours, stored) : ours
  if (stored.manualRetries <= ours.manualRetries || isFinal(decided)) return decided
  return { ...retryNow(decided, stored.updatedAt), manualRetries: stored.manualRetries }
}

/**
 * Another node may have stored the signal that the last branch waited for, just before we decided an abort. That saga was
 * done first. Our decision is not durable, since the row lacks it, so nothing was undone. The end is saved by the same
 * write as what we know, so that no command comes in between.
 */
function endIfDoneElsewhere(
  ours: SagaTransaction,
  { known, stored, storeNow }: { known: SagaTransaction; stored: Unfinished; storeNow: number },
): SagaTransaction {
  const isDoneByRow = haveAllSucceeded(ours) && !haveAllSucceeded(known)
  if (ours.status !== 'aborting' || stored.status === 'aborting' || !isDoneByRow) return ours
  const { abort: _, ...facts } = withoutAttention(ours)
  return { ...facts, status: 'succeeded', finishedAt: storeNow, updatedAt: storeNow }
}

function withAbort(
  ours: Exclude<SagaTransaction, { status: 'failed' | 'stopped' }>,
  stored: Aborting,
): Aborting {
  if (ours.status === 'aborting') return uniteAborts(ours, stored)
  // If we have set the mark of no return, it was not durable when another node decided, so no pivot was called.
  const { finishedAt: _, noReturnAt: __, ...facts } = { finishedAt: 0, noReturnAt: 0, ...ours }
  const branches = ours.branches.map(giveUpAction)
  return {
    ...facts,
    status: 'aborting',
    abort: stored.abort,
    branches,
    sentUnknown: true,
    updatedAt: stored.updatedAt,
  }
}
