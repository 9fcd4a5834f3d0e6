/** A claimed row: run it, let it rest, or park it for a person. */
import { AssertionError } from './errors.ts'
import { decodeTransaction, encodeProgress } from './record.ts'
import type { Rules } from './rules.ts'
import { claimedRun, type Grant, type Run, type RunSettings } from './run.ts'
import { PARKED_AT, type StoredTransaction, type TransactionUpdate } from './store.ts'
import type { Transaction } from './transaction.ts'

/** Claims without a save after which a row may be what stops its runners. */
export const CLAIMS_WITHOUT_PROGRESS_MAX = 3
/** After a rest one such claim is enough for the next. */
const CLAIMS_AFTER_REST_MAX = 1
/** What kills its runners does so once in about so many leases, and its neighbours run meanwhile. */
export const REST_LEASES = 6
const REST_REASON = `claimed ${CLAIMS_WITHOUT_PROGRESS_MAX} times without progress`

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
  const restedAt = Math.ceil(grant.storeNow) + REST_LEASES * settings.leaseMs
  let stored: Transaction
  try {
    stored = decodeTransaction(row)
  } catch (error: unknown) {
    return undecoded(row, error, restedAt)
  }
  if (row.claimsWithoutProgress > claimsMax(stored)) {
    const progress = encodeProgress({ ...stored, attention: restReason(stored) })
    return { type: 'rest', reason: REST_REASON, update: givenBack(row, progress, restedAt) }
  }
  const event = { type: 'claimed', epoch: row.epoch, sentUnknown: stored.sentUnknown } as const
  const { next, durability } = rules.fold(stored, event, Math.floor(grant.storeNow))
  // Saved at the next checkpoint whatever happens, so that only a row that stops its runner before it counts as one.
  const claimed = { ...claimedRun(next, row, settings, grant), dirtySince: grant.now }
  const run = { ...claimed, durableTransaction: stored }
  // A deadline that has passed, or an abort with nothing left to undo: decided now, and not durable yet.
  const decided = { ...run, changed: run.changed + 1, gate: run.changed + 1 }
  return { type: 'run', run: durability === 'none' ? run : decided }
}

/** Throws what is a fault of this code, not of the row: parked for that, it would wait for a person after it is mended. */
function undecoded(row: StoredTransaction, error: unknown, restedAt: number): TakeOver {
  if (error instanceof AssertionError) {
    const reason = `record cannot be read: ${error.message}`
    return { type: 'park', reason, update: givenBack(row, row.progress, PARKED_AT) }
  }
  if (row.claimsWithoutProgress <= CLAIMS_WITHOUT_PROGRESS_MAX) throw error
  return { type: 'rest', reason: REST_REASON, update: givenBack(row, row.progress, restedAt) }
}

function claimsMax(transaction: Transaction): number {
  return hasRested(transaction) ? CLAIMS_AFTER_REST_MAX : CLAIMS_WITHOUT_PROGRESS_MAX
}

/** Whether its mark says, last or alone, that nobody got anywhere. */
export function hasRested({ attention = '' }: Transaction): boolean {
  return attention.endsWith(REST_REASON)
}

/** Behind what a person has to know besides. */
function restReason(transaction: Transaction): string {
  const { attention } = transaction
  if (attention === undefined) return REST_REASON
  return hasRested(transaction) ? attention : `${attention}; ${REST_REASON}`
}

function givenBack(
  { gid, token, version, status, format, retrying }: StoredTransaction,
  progress: string,
  dueAt: number,
): Omit<TransactionUpdate, 'writeId'> {
  const hold = { type: 'release', dueAt } as const
  return { gid, token, version, status, format, progress, retrying, attention: true, hold }
}
