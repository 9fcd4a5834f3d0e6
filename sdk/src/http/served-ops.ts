import type { Op } from '@counterstep/protocol'
import { BranchFailure } from '../branch/branch-errors.ts'

/**
 * An op that a branch handler can serve: every one but the query-back of a message, the plan of a workflow, and those of XA, which DTM's own clients serve.
 *
 * @example
 * ```ts
 * const ops: readonly BranchOp[] = ['confirm', 'cancel']
 * ```
 */
export type BranchOp = Exclude<Op, 'msg' | 'plan' | 'commit' | 'rollback'>

const BRANCH_OPS: { readonly [op in BranchOp]: true } = {
  action: true,
  compensate: true,
  try: true,
  confirm: true,
  cancel: true,
}

/** Returns the ops of a handler. Throws a TypeError at construction for bad settings. */
export function assertOps(ops: readonly BranchOp[] | undefined): void {
  if (ops === undefined) return
  if (Array.isArray(ops) && ops.length > 0 && ops.every((op) => Object.hasOwn(BRANCH_OPS, op))) return
  throw new TypeError(`ops must be a list of at least one of ${Object.keys(BRANCH_OPS).join(', ')}`)
}

/**
 * Throws a definite failure for an op that is not served, since nothing was done and no repetition would change that.
 * After this failure a saga or a TCC is undone. If the op was a compensation, confirm or cancel, it draws attention at
 * once, and is asked again until its URL is mended.
 */
export function assertServed(op: Op, ops: readonly BranchOp[] | undefined): void {
  if (ops === undefined || ops.some((served) => served === op)) return
  throw new BranchFailure(`this route serves ${ops.join(' and ')}, and no ${op}`, {
    code: 'BRANCH_OP_NOT_SERVED',
  })
}
