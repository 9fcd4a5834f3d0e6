import { toAbortReason } from '../assert-prepared.ts'
import type { Branch } from '../branch/branch.ts'
import { command } from '../command.ts'
import type { Setup } from '../setup.ts'
import { tccScope } from './tcc-scope.ts'
import type { TccScope } from './tcc-types.ts'

/** The scope that numbers the branches under a branch. */
const numberers = new WeakMap<object, object>()

/**
 * Opens the share of a TCC that the participant of a branch has. A try that fails aborts the whole TCC before its error is thrown:
 * the participant may catch that error, and what is registered will be confirmed if the TCC is submitted. Throws a TypeError
 * if the branch does not belong to a TCC.
 */
export function openNestedTcc(setup: Setup, branch: Pick<Branch, 'gid' | 'branchId' | 'kind'>): TccScope {
  const { gid, branchId, kind } = branch
  if (kind !== 'tcc') throw new TypeError(`a ${kind} has no nested branches: tccOf needs a branch of a TCC`)
  const claimNumbers = (): void => {
    const first = numberers.get(branch) ?? scope
    numberers.set(branch, first)
    if (first === scope) return
    // The server would take a branch of the same number and content for a repetition, and its effect would be lost.
    throw new TypeError(
      `tccOf was called twice for the branch ${branchId}, and each scope counts its branches from 01: call it once, or give each branch an id`,
    )
  }
  const scope = tccScope(setup, { gid, parentId: branchId, claimNumbers })
  let failed: { readonly error: unknown } | undefined
  return {
    ...scope,
    try: async (child, options = {}) => {
      if (failed !== undefined) throw failed.error
      try {
        return await scope.try(child, options)
      } catch (error: unknown) {
        failed ??= { error }
        await abort(setup, gid, error, options.retryForMs)
        throw error
      }
    },
  }
}

/** Aborts the TCC. If that fails, the error of the try still tells the participant to fail, and at the deadline the server aborts. */
async function abort(
  setup: Setup,
  gid: string,
  error: unknown,
  retryForMs = setup.retryForMs,
): Promise<void> {
  await command(setup, 'abort', gid, { reason: toAbortReason(error), retryForMs }).catch(() => undefined)
}
