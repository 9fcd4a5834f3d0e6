/** A claimed row: run it, or park it for a person. */
import { AssertionError } from './errors.ts'
import { decodeTransaction, encodeProgress } from './record.ts'
import { claimedRun, type Grant, type Run, type RunSettings } from './run.ts'
import { PARKED_AT, type StoredTransaction, type TransactionUpdate } from './store.ts'
import { isFinal, type Transaction } from './transaction.ts'
import type { Rules } from './transition.ts'

/** Claims without a save after which a row may be what stops its runners. */
export const CLAIMS_WITHOUT_PROGRESS_MAX = 3

export type TakeOver =
  | { readonly type: 'run'; readonly run: Run }
  | { readonly type: 'park'; readonly reason: string; readonly update: Omit<TransactionUpdate, 'writeId'> }

export function takeOver(
  rules: Rules,
  row: StoredTransaction,
  settings: RunSettings,
  grant: Grant,
): TakeOver {
  const stored = tryDecode(row)
  if (stored instanceof AssertionError)
    return park(row, row.progress, `record cannot be read: ${stored.message}`)
  if (row.claimsWithoutProgress > CLAIMS_WITHOUT_PROGRESS_MAX) {
    const reason = `claimed ${CLAIMS_WITHOUT_PROGRESS_MAX} times without progress`
    return park(
      row,
      isFinal(stored) ? row.progress : encodeProgress({ ...stored, attention: reason }),
      reason,
    )
  }
  const event = { type: 'claimed', epoch: row.epoch, sentUnknown: stored.sentUnknown } as const
  const { next, durability } = rules.fold(stored, event, Math.floor(grant.storeNow))
  // Saved at the next checkpoint whatever happens, so that only a row that stops its runner before it counts as one.
  const claimed = { ...claimedRun(next, row, settings, grant), dirtySince: grant.now }
  const run = { ...claimed, durableStatus: row.status }
  // A deadline that has passed, or an abort with nothing left to undo: decided now, and not durable yet.
  const decided = { ...run, changed: run.changed + 1, gate: run.changed + 1 }
  return { type: 'run', run: durability === 'none' ? run : decided }
}

function tryDecode(row: StoredTransaction): Transaction | AssertionError {
  try {
    return decodeTransaction(row)
  } catch (error: unknown) {
    if (error instanceof AssertionError) return error
    return new AssertionError('it has another shape')
  }
}

function park(row: StoredTransaction, progress: string, reason: string): TakeOver {
  const { gid, token, version, status, format, retrying } = row
  const hold = { type: 'release', dueAt: PARKED_AT } as const
  return {
    type: 'park',
    reason,
    update: { gid, token, version, status, format, progress, retrying, attention: true, hold },
  }
}
