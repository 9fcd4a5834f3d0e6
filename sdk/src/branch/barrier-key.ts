import { OPS, type Op } from '@counterstep/protocol'
import type { BarrierCall } from './branch.ts'
import { BranchError } from './branch-errors.ts'

/**
 * Holds the key of a row without the op, because a call may have rows of two ops. The key has been checked, so it fits
 * the columns.
 */
export interface BarrierKey {
  readonly gid: string
  readonly branchId: string
  readonly barrierId: string
}

export const BARRIER_ID_DEFAULT = '01'

/** These limits are wider than our own ids, since DTM's ids may have any characters. The columns have these widths. */
export const BARRIER_KEY_BYTES_MAX = { gid: 128, branch_id: 128, barrier_id: 32 } as const
// The text has no control characters (PostgreSQL stores no NUL) and no lone surrogates (two different ones would become
// the same bytes).
const TEXT = /^[^\p{Cc}\p{Cs}]+$/u

/** Tells whether a text would be stored whole. If a lenient sql_mode cut texts off, two keys could become one. */
export function isBarrierText(value: string, column: string): boolean {
  const bytesMax = column === 'barrier_id' ? BARRIER_KEY_BYTES_MAX.barrier_id : BARRIER_KEY_BYTES_MAX.gid
  return value.length <= bytesMax && TEXT.test(value) && Buffer.byteLength(value) <= bytesMax
}

/** Checks the parts of the key before anything is inserted. Throws BRANCH_CALL_INVALID. */
export function toBarrierKey({ gid, branchId, op, barrierId = BARRIER_ID_DEFAULT }: BarrierCall): BarrierKey {
  const parts = { gid, branch_id: branchId, barrier_id: barrierId }
  for (const [column, value] of Object.entries(parts)) {
    if (typeof value !== 'string' || !isBarrierText(value, column)) {
      throw new BranchError(
        'BRANCH_CALL_INVALID',
        `${column} must be 1 to 128 bytes of text (barrier_id: 32)`,
      )
    }
  }
  if (!isOp(op)) throw new BranchError('BRANCH_CALL_INVALID', `op must be one of ${OPS.join(', ')}`)
  return { gid, branchId, barrierId }
}

function isOp(value: unknown): value is Op {
  return OPS.some((op) => op === value)
}
