import { OPS, type Op } from '@counterstep/protocol'
import type { BarrierCall } from './branch.ts'
import { BranchError } from './branch-errors.ts'

/** Holds the key of a row without the op, of which a call has two. It has been checked, so that it fits its columns. */
export interface BarrierKey {
  readonly gid: string
  readonly branchId: string
  readonly barrierId: string
}

/** Wider than our own ids, since DTM's may be of any characters. The columns are as wide as this. */
export const BARRIER_KEY_BYTES_MAX = { gid: 128, branch_id: 128, barrier_id: 32 } as const
// No control characters (PostgreSQL stores no NUL) and no lone surrogates (two of them would become one byte sequence).
const TEXT = /^[^\p{Cc}\p{Cs}]+$/u

/** A text that is stored whole: cut off by a lenient sql_mode, two keys would become one. */
export function isBarrierText(value: string, column: string): boolean {
  const bytesMax = column === 'barrier_id' ? BARRIER_KEY_BYTES_MAX.barrier_id : BARRIER_KEY_BYTES_MAX.gid
  return value.length <= bytesMax && TEXT.test(value) && Buffer.byteLength(value) <= bytesMax
}

/** Throws BRANCH_CALL_INVALID, before anything is inserted. */
export function barrierKey({ gid, branchId, op, barrierId = '01' }: BarrierCall): BarrierKey {
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
