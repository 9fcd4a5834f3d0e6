import { isBranchFailure } from '../branch/branch-errors.ts'
import type { Barrier } from './barrier.ts'

/** A copy of a refused call has taken effect, so there is something to undo. */
class CopyStands extends Error {}

/**
 * Lets a barrier's `run` keep the refusal of an action that nothing will undo. Other actions that fail are compensated, and the rows of
 * that null compensation hold back a late copy of the action. Here the barrier makes these rows itself, before the refusal is answered:
 * if the process dies before they are durable, nothing was answered, and the call comes again. If a copy has taken effect in between,
 * its answer is the answer.
 */
export function keepRefusals<Tx, Effect>(run: Barrier<Tx, Effect>['run']): Barrier<Tx, Effect>['run'] {
  return async (call, effect) => {
    try {
      return await run(call, effect)
    } catch (error: unknown) {
      if (call.hasNoUndo !== true || !isBranchFailure(error)) throw error
      if (await isKept(() => run({ ...call, op: 'compensate' }, refuseUndo))) throw error
      return run(call, effect)
    }
  }
}

async function isKept(undo: () => Promise<unknown>): Promise<boolean> {
  try {
    await undo()
    return true
  } catch (error: unknown) {
    if (error instanceof CopyStands) return false
    throw error
  }
}

function refuseUndo(): never {
  throw new CopyStands()
}
