import { BranchError, isBranchFailure } from '../branch/branch-errors.ts'
import type { Barrier, BarrierOutcome } from './barrier.ts'

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
    if (call.hasNoUndo !== true || call.op !== 'action') return run(call, effect)
    // A grouped branch is built on a barrier that does the same, so the mark goes no further.
    const { hasNoUndo: _, ...known } = call
    try {
      return await run(known, effect)
    } catch (error: unknown) {
      if (!isBranchFailure(error)) throw error
      if (await isKept(() => run({ ...known, op: 'compensate' }, refuseUndo))) throw error
      return readCopy(() => run(known, effect))
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

/** Reads the answer of the copy. If its row is gone by now, another refusal would not be kept, so the call has to come again. */
async function readCopy(run: () => Promise<BarrierOutcome>): Promise<BarrierOutcome> {
  try {
    return await run()
  } catch (error: unknown) {
    if (!isBranchFailure(error)) throw error
    throw new BranchError('BARRIER_CONTENDED', 'a copy of the call took effect, and its row is gone', error)
  }
}

function refuseUndo(): never {
  throw new CopyStands()
}
