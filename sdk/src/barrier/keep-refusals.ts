import type { PlanFailure } from '@counterstep/protocol'
import { BranchError, type BranchFailure, isBranchFailure } from '../branch/branch-errors.ts'
import { createFailure, readFailure } from '../branch/failures.ts'
import type { Barrier, BarrierOutcome } from './barrier.ts'
import type { UndoOfRefusal } from './pass-barrier.ts'
import { readStoredAnswer, STORED_ANSWER_BYTES_MAX } from './stored-answer.ts'

/** A copy of a refused call has taken effect, so there is something to undo. */
class CopyStands extends Error {}

/**
 * Lets a barrier's `run` keep the refusal of an action that nothing will undo. Other actions that fail are compensated, and the rows of
 * that null compensation hold back a late copy of the action. Here the barrier makes these rows itself, before the refusal is answered:
 * if the process dies before they are durable, nothing was answered, and the call comes again. If a copy has taken effect in between,
 * its answer is the answer. The row of the undo has the first refusal as its answer, and every copy is refused with that one.
 */
export function keepRefusals<Tx, Effect>(run: Barrier<Tx, Effect>['run']): Barrier<Tx, Effect>['run'] {
  return async (call, effect) => {
    if (call.hasNoUndo !== true || call.op !== 'action') return run(call, effect)
    // A grouped branch is built on a barrier that does the same, so the mark goes no further.
    const { hasNoUndo: _, ...known } = call
    const undo: UndoOfRefusal = { ...known, op: 'compensate' }
    let outcome: BarrierOutcome
    try {
      outcome = await run(known, effect)
    } catch (error: unknown) {
      if (!isBranchFailure(error)) throw error
      const undone = await tryUndo(() => run({ ...undo, ...toRefusal(error) }, refuseUndo))
      if (undone !== undefined) throw readRefusal(undone) ?? error
      return readCopy(() => run(known, effect))
    }
    if (outcome.decision !== 'already-compensated') return outcome
    const undone = await tryUndo(() => run(undo, refuseUndo))
    const refusal = undone === undefined ? undefined : readRefusal(undone)
    if (refusal === undefined) return outcome
    throw refusal
  }
}

/** Returns undefined if the undo has something to undo. */
async function tryUndo(undo: () => Promise<BarrierOutcome>): Promise<BarrierOutcome | undefined> {
  try {
    return await undo()
  } catch (error: unknown) {
    if (error instanceof CopyStands) return undefined
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

/** Returns a refusal as a text that can be stored, without the details or the message if there is no room for them. */
function toRefusal(error: BranchFailure): Pick<UndoOfRefusal, 'refusal'> {
  try {
    const { code, message, details } = readFailure(error)
    for (const kept of [
      { code, message, details },
      { code, message },
      { code, message: '' },
    ]) {
      const refusal = toAsciiJson({ refused: kept })
      if (refusal !== undefined && refusal.length <= STORED_ANSWER_BYTES_MAX) return { refusal }
    }
  } catch {
    // The failure cannot be read, for example because a getter throws. It is kept all the same.
  }
  return {}
}

/** A database may have an encoding that lacks characters of the message, and a refusal must not fail for that. */
function toAsciiJson(value: object): string | undefined {
  try {
    const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
    return JSON.stringify(value).replace(/[\u0080-\uffff]/g, escapeUnit)
  } catch {
    // The details are what JSON cannot hold. The answer leaves them out, too.
    return undefined
  }
}

/** Reads the refusal that was kept. There is none if a compensation came before the call, or an older version kept the refusal. */
function readRefusal({ answer }: BarrierOutcome): BranchFailure | undefined {
  const kept = readStoredAnswer(answer) as { readonly refused?: Partial<PlanFailure> } | null | undefined
  const { code, message, details } = kept?.refused ?? {}
  if (typeof code !== 'string' || typeof message !== 'string') return undefined
  return createFailure({ code, message, ...(details === undefined ? {} : { details }) })
}
