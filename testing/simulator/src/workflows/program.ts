/** The code of the workflows of a world: programs that a seed draws. */
import type { Gid } from '@counterstep/protocol'
import type { Random } from '../world/random.ts'

export interface Stage {
  readonly type: 'all' | 'race' | 'run' | 'timer' | 'signal' | 'pivot' | 'sure'
  /** For each step, whether it is a local step of the handler, and whether it can be undone. */
  readonly steps: readonly { readonly isLocal: boolean; readonly hasUndo: boolean }[]
  readonly ms: number
  /** A failure of a step is caught, and the program goes on. */
  readonly catches: boolean
}

export interface Program {
  readonly gid: Gid
  readonly stages: readonly Stage[]
  /** The program ends by a failure of its own. */
  readonly fails: boolean
  /** From this stage on a new version of the code, which has the same number, gives its local steps other names. */
  readonly renamedFrom: number
}

/** Where there are grants, more of the stages are single local steps, which run within a plan call. */
export function drawProgram(random: Random, gid: Gid, hasGrants: boolean): Program {
  const stages: Stage[] = []
  for (let stage = random.between(1, hasGrants ? 6 : 4); stage > 0; stage--)
    stages.push(hasGrants && random.chance(0.5) ? drawLocal(random) : drawStage(random))
  if (random.chance(0.25)) {
    const sole = { steps: [{ isLocal: random.chance(0.5), hasUndo: false }], ms: 0, catches: true }
    stages.push({ ...sole, type: 'pivot' }, { ...sole, type: 'sure' })
  }
  const fails = stages.at(-1)?.type !== 'sure' && random.chance(0.25)
  return { gid, stages, fails, renamedFrom: random.between(0, stages.length - 1) }
}

function drawStage(random: Random): Stage {
  const draw = random.next()
  const type =
    draw < 0.4 ? 'all' : draw < 0.65 ? 'race' : draw < 0.75 ? 'run' : draw < 0.87 ? 'timer' : 'signal'
  const isCalling = type === 'all' || type === 'race'
  const count = isCalling ? random.between(1, 3) : 1
  const steps = Array.from({ length: count }, () => ({
    isLocal: random.chance(0.5),
    hasUndo: !random.chance(0.15),
  }))
  return { type, steps, ms: random.between(1, 400), catches: random.chance(0.6) }
}

function drawLocal(random: Random): Stage {
  const steps = [{ isLocal: true, hasUndo: !random.chance(0.15) }]
  return { type: 'all', steps, ms: 1, catches: random.chance(0.6) }
}
