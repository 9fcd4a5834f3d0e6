/** Checks the arguments that the contract of every store rules out. Each check throws an AssertionError. */
import { type Gid, isFinalStatus } from '@counterstep/protocol'
import { assert } from '../errors.ts'
import {
  CLAIM_MAX,
  type DueClaim,
  type DuePostponement,
  type Lease,
  POSTPONE_MAX,
  PURGE_MAX,
  READ_MANY_MAX,
  RENEW_MAX,
  type TransactionUpdate,
} from './store.ts'

export function assertUpdate({ status, hold }: Pick<TransactionUpdate, 'status' | 'hold'>): void {
  assert(
    isFinalStatus(status) === (hold.type === 'finish'),
    'update: a final status and "finish" go together',
  )
}

export function assertRenew(leases: readonly Lease[]): void {
  assert(leases.length <= RENEW_MAX, 'renew: too many leases')
}

export function assertDueClaim({ limit, tokens }: Pick<DueClaim, 'limit' | 'tokens'>): void {
  assert(limit <= CLAIM_MAX && tokens.length >= limit, 'claimDue: limit over CLAIM_MAX, or too few tokens')
}

/** A row that is moved by 0 ms would still be due, so the next caller would get the same row. */
export function assertDuePostponement({ limit, byMs }: Pick<DuePostponement, 'limit' | 'byMs'>): void {
  assert(limit <= POSTPONE_MAX, 'postponeDue: limit over POSTPONE_MAX')
  assert(byMs >= 1, 'postponeDue: byMs under 1')
}

export function assertReadMany(gids: readonly Gid[]): void {
  assert(gids.length <= READ_MANY_MAX, 'readMany: too many gids')
}

export function assertPurge(limit: number): void {
  assert(limit <= PURGE_MAX, 'purgeFinished: limit over PURGE_MAX')
}
