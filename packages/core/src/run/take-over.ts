/** Decides about a claimed row: run it, give it back for a while (rest), or park it for a person. */
import type { TraceContext } from '../definition.ts'
import { AssertionError } from '../errors.ts'
import { PARKED_AT, type StoredTransaction, type TransactionUpdate } from '../ports/store.ts'
import { describeTrouble, describeUnreadable, type Trouble } from '../record/describe-trouble.ts'
import { decodeTransaction, encodeProgress } from '../record/record.ts'
import type { Rules } from '../rules/rules.ts'
import { textHash } from '../text-hash.ts'
import type { Transaction } from '../transaction.ts'
import {
  CLAIMS_UNANSWERED_MAX,
  CLAIMS_WITHOUT_PROGRESS_MAX,
  hasRested,
  NO_ANSWER_REASON,
  NO_PROGRESS_REASON,
} from './rest-mark.ts'
import { claimedRun, type Grant, type Run, type RunSettings } from './run.ts'

/** After a rest, more than this number of such claims leads to the next rest. */
const CLAIMS_AFTER_REST_MAX = 1
/** A row that kills its owners does so once in at least this many leases, so that other rows run meanwhile. */
const REST_LEASES_MIN = 6
/**
 * Rests last between REST_LEASES_MIN and this many leases, so that they end at different times. Else slow rows would always
 * be claimed together with the row that kills their owners.
 */
export const REST_LEASES_MAX = 9

export type TakeOver =
  | { readonly type: 'run'; readonly run: Run }
  /** The row is given back for a while. It may not be to blame: the connection to the store may have failed. */
  | {
      readonly type: 'rest'
      readonly reason: string
      readonly update: Omit<TransactionUpdate, 'writeId'>
      readonly trace?: TraceContext
    }
  /** No node can run the row, however often it is tried. */
  | { readonly type: 'park'; readonly reason: string; readonly update: Omit<TransactionUpdate, 'writeId'> }

export function takeOver(
  rules: Rules,
  row: StoredTransaction,
  settings: RunSettings,
  grant: Grant,
): TakeOver {
  let stored: Transaction
  try {
    stored = decodeTransaction(row)
  } catch (error: unknown) {
    return handleUnreadable(row, error, settings, grant)
  }
  const claimsUnanswered = stored.claimsUnanswered + row.claimsWithoutProgress
  const reason = reasonToRest(stored, row, claimsUnanswered)
  if (reason !== undefined) {
    const rested = markRested(stored, reason)
    const saved = { progress: encodeProgress(rested), ...describeTrouble(rested) }
    const { trace } = stored.definition
    const update = toRelease(row, saved, findRestEnd(row, settings, grant))
    return { type: 'rest', reason, update, ...(trace && { trace }) }
  }
  const event = { type: 'claimed', epoch: row.epoch, sentUnknown: stored.sentUnknown } as const
  const { next: claimedOne, durability } = rules.fold(stored, event, Math.floor(grant.storeNow))
  const next = { ...claimedOne, claimsUnanswered }
  // The run is saved at the next checkpoint in any case, so that only a row that
  // stops its owner before that counts as one without progress.
  const claimed = { ...claimedRun(next, row, settings, grant), dirtySince: grant.now }
  const run = { ...claimed, durableTransaction: stored }
  if (durability === 'none') return { type: 'run', run }
  // A deadline that has passed, an abort with nothing left to undo or a timer that is over is decided now and not durable yet.
  const lastChange = run.lastChange + 1
  const lastStrongChange = durability === 'strong' ? lastChange : run.lastStrongChange
  return { type: 'run', run: { ...run, lastChange, lastStrongChange } }
}

/**
 * Parks a row whose record is damaged. Any other error is a fault of this code: it is thrown, since a parked row would
 * still wait for a person after the code is mended. After too many claims the row rests instead.
 */
function handleUnreadable(
  row: StoredTransaction,
  error: unknown,
  settings: RunSettings,
  grant: Grant,
): TakeOver {
  if (error instanceof AssertionError) {
    const reason = `record cannot be read: ${error.message}`
    return {
      type: 'park',
      reason,
      update: toRelease(row, { progress: row.progress, ...describeUnreadable(row) }, PARKED_AT),
    }
  }
  if (row.claimsWithoutProgress <= CLAIMS_WITHOUT_PROGRESS_MAX) throw error
  const update = toRelease(
    row,
    { progress: row.progress, ...keepTrouble(row) },
    findRestEnd(row, settings, grant),
  )
  return { type: 'rest', reason: NO_PROGRESS_REASON, update }
}

/** Keeps what the row said before, because the record tells nothing newer. */
function keepTrouble({ problem, attempts, marks }: StoredTransaction): Trouble {
  return {
    problem: problem ?? '– no-progress',
    ...(attempts === undefined ? {} : { attempts }),
    ...(marks === undefined ? {} : { marks }),
  }
}

function reasonToRest(
  stored: Transaction,
  { claimsWithoutProgress }: StoredTransaction,
  claimsUnanswered: number,
): string | undefined {
  const claimsMax = hasRested(stored) ? CLAIMS_AFTER_REST_MAX : CLAIMS_WITHOUT_PROGRESS_MAX
  if (claimsWithoutProgress > claimsMax) return NO_PROGRESS_REASON
  return claimsUnanswered > CLAIMS_UNANSWERED_MAX ? NO_ANSWER_REASON : undefined
}

/** Adds the reason behind any other mark, and leaves one claim until the next rest. */
function markRested(stored: Transaction, reason: string): Transaction {
  const claimsUnanswered = Math.min(stored.claimsUnanswered, CLAIMS_UNANSWERED_MAX - 1)
  return { ...stored, claimsUnanswered, attention: restMark(stored, reason) }
}

function restMark(stored: Transaction, reason: string): string {
  const { attention } = stored
  if (attention === undefined) return reason
  return hasRested(stored) ? attention : `${attention}; ${reason}`
}

function toRelease(
  { gid, token, version, status, format, retrying }: StoredTransaction,
  saved: Trouble & Pick<TransactionUpdate, 'progress'>,
  dueAt: number,
): Omit<TransactionUpdate, 'writeId'> {
  const hold = { type: 'release', dueAt } as const
  return { gid, token, version, status, format, ...saved, retrying, attention: true, hold }
}

/** Returns when the rest ends. The time differs for each row and for each of its claims. */
function findRestEnd(
  { gid, epoch }: StoredTransaction,
  { leaseMs }: RunSettings,
  { storeNow }: Grant,
): number {
  const share01 = textHash(`${gid} ${epoch}`) / 2 ** 32
  const leases = REST_LEASES_MIN + (REST_LEASES_MAX - REST_LEASES_MIN) * share01
  return Math.ceil(storeNow + leases * leaseMs)
}
