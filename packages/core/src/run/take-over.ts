/** A claimed row: run it, let it rest, or park it for a person. */
import { AssertionError } from '../errors.ts'
import { PARKED_AT, type StoredTransaction, type TransactionUpdate } from '../ports/store.ts'
import { decodeTransaction, encodeProgress } from '../record/record.ts'
import type { Rules } from '../rules/rules.ts'
import { textHash } from '../text-hash.ts'
import type { Transaction } from '../transaction.ts'
import { claimedRun, type Grant, type Run, type RunSettings } from './run.ts'

/** Claims without a save after which a row may be what stops its runners. */
export const CLAIMS_WITHOUT_PROGRESS_MAX = 3
/** After a rest one such claim is enough for the next. */
const CLAIMS_AFTER_REST_MAX = 1
/**
 * Claims without an answer after which a row may be what stops its runners later than at the first checkpoint: by what a slow
 * branch answers, say. More than the other bound, since who calls slow branches beside such a row has none either.
 */
export const CLAIMS_UNANSWERED_MAX = 10
/** What kills its runners does so once in about so many leases, and its neighbours run meanwhile. */
const REST_LEASES_MIN = 6
/** What rests at the same time ends its rest apart: else slow neighbours would always be claimed with what kills them. */
export const REST_LEASES_MAX = 9
const NO_PROGRESS_REASON = `claimed ${CLAIMS_WITHOUT_PROGRESS_MAX} times without progress`
const NO_ANSWER_REASON = `claimed ${CLAIMS_UNANSWERED_MAX} times without an answer`

export type TakeOver =
  | { readonly type: 'run'; readonly run: Run }
  /** Given back for a while: nothing says that the row is to blame, it may have been the way to the store. */
  | { readonly type: 'rest'; readonly reason: string; readonly update: Omit<TransactionUpdate, 'writeId'> }
  /** Nobody can run it, however often it is tried. */
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
    return undecoded(row, error, settings, grant)
  }
  const claimsUnanswered = stored.claimsUnanswered + row.claimsWithoutProgress
  const reason = reasonToRest(stored, row, claimsUnanswered)
  if (reason !== undefined) {
    const progress = encodeProgress(rested(stored, reason))
    return { type: 'rest', reason, update: givenBack(row, progress, restedAt(row, settings, grant)) }
  }
  const event = { type: 'claimed', epoch: row.epoch, sentUnknown: stored.sentUnknown } as const
  const { next: claimedOne, durability } = rules.fold(stored, event, Math.floor(grant.storeNow))
  const next = { ...claimedOne, claimsUnanswered }
  // Saved at the next checkpoint whatever happens, so that only a row that stops its runner before it counts as one.
  const claimed = { ...claimedRun(next, row, settings, grant), dirtySince: grant.now }
  const run = { ...claimed, durableTransaction: stored }
  // A deadline that has passed, or an abort with nothing left to undo: decided now, and not durable yet.
  const decided = { ...run, changed: run.changed + 1, gate: run.changed + 1 }
  return { type: 'run', run: durability === 'none' ? run : decided }
}

/** Throws what is a fault of this code, not of the row: parked for that, it would wait for a person after it is mended. */
function undecoded(row: StoredTransaction, error: unknown, settings: RunSettings, grant: Grant): TakeOver {
  if (error instanceof AssertionError) {
    const reason = `record cannot be read: ${error.message}`
    return { type: 'park', reason, update: givenBack(row, row.progress, PARKED_AT) }
  }
  if (row.claimsWithoutProgress <= CLAIMS_WITHOUT_PROGRESS_MAX) throw error
  const update = givenBack(row, row.progress, restedAt(row, settings, grant))
  return { type: 'rest', reason: NO_PROGRESS_REASON, update }
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

/** Whether its mark says, last or alone, that nobody got anywhere. */
export function hasRested({ attention = '' }: Transaction): boolean {
  return attention.endsWith(NO_PROGRESS_REASON) || attention.endsWith(NO_ANSWER_REASON)
}

/** With the reason behind what a person has to know besides, and with one claim left until the next rest. */
function rested(stored: Transaction, reason: string): Transaction {
  const claimsUnanswered = Math.min(stored.claimsUnanswered, CLAIMS_UNANSWERED_MAX - 1)
  return { ...stored, claimsUnanswered, attention: restMark(stored, reason) }
}

function restMark(stored: Transaction, reason: string): string {
  const { attention } = stored
  if (attention === undefined) return reason
  return hasRested(stored) ? attention : `${attention}; ${reason}`
}

function givenBack(
  { gid, token, version, status, format, retrying }: StoredTransaction,
  progress: string,
  dueAt: number,
): Omit<TransactionUpdate, 'writeId'> {
  const hold = { type: 'release', dueAt } as const
  return { gid, token, version, status, format, progress, retrying, attention: true, hold }
}

/** After another time for each row, and for each of its claims. */
function restedAt({ gid, epoch }: StoredTransaction, { leaseMs }: RunSettings, { storeNow }: Grant): number {
  const share01 = textHash(`${gid} ${epoch}`) / 2 ** 32
  const leases = REST_LEASES_MIN + (REST_LEASES_MAX - REST_LEASES_MIN) * share01
  return Math.ceil(storeNow + leases * leaseMs)
}
