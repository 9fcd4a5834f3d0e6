import type { PlanEntry, PlanRefusal } from '@counterstep/protocol'

const UNDO_NOTHING =
  'Nothing was undone. Deploy the code that began this workflow, or give the new code a version of its own.'

/**
 * Says whether the function asks for an id as what the record has under it. The input of a step is not compared: the
 * recorded one stands.
 */
export function findChangedAsk(recorded: PlanEntry | undefined, asked: PlanEntry): PlanRefusal | undefined {
  if (recorded === undefined || (recorded.is === asked.is && recorded.name === asked.name)) return undefined
  return {
    code: 'WORKFLOW_CHANGED',
    message: `${asked.id} was ${describe(recorded)}, and the function asks for it as ${describe(asked)}. ${UNDO_NOTHING}`,
    id: asked.id,
    journaled: pick(recorded),
    asked: pick(asked),
  }
}

/**
 * Refuses an entry that the function has not asked for when it waits or ends. When the entry was planned, all that came
 * before it was known, and all of that has been delivered again: unchanged code that uses neither the clock nor chance
 * has asked for it by now.
 */
export function refuseUnasked(recorded: PlanEntry, instead: readonly string[]): PlanRefusal {
  const other = instead.length === 0 ? '' : ` It asks for ${instead.join(', ')}.`
  return {
    code: 'WORKFLOW_CHANGED',
    message: `${recorded.id} was ${describe(recorded)}, and the function did not ask for it.${other} Its code has changed, or it uses a clock or chance other than those of ctx. ${UNDO_NOTHING}`,
    id: recorded.id,
    journaled: pick(recorded),
  }
}

function pick({ is, name }: PlanEntry): Pick<PlanEntry, 'is' | 'name'> {
  return { is, name }
}

function describe({ is, name }: PlanEntry): string {
  return `a ${is} (${name})`
}
