/** The code of the workflows of a world: programs that a seed draws. */
import type { Gid } from '@counterstep/protocol'
import type { Random } from '../world/random.ts'

export type Behind = 'one' | 'two' | 'chain'

export interface Stage {
  /**
   * `listen` asks for a signal and does not wait for it. In a `fork` each step is a timer. Behind it comes what `behind` says: one
   * local step, two beside each other, or a chain.
   */
  readonly type: 'all' | 'race' | 'run' | 'timer' | 'signal' | 'listen' | 'pivot' | 'sure' | 'fork'
  /** For each step, whether it is a local step of the handler, and whether it can be undone. */
  readonly steps: readonly { readonly isLocal: boolean; readonly hasUndo: boolean }[]
  readonly ms: number
  /** A failure of a step is caught, and the program goes on. */
  readonly catches: boolean
  readonly behind?: readonly Behind[]
  /** The timers of a fork end one after the other, and not together. */
  readonly isSpread?: boolean
}

export interface Program {
  readonly gid: Gid
  /** The stages of each generation. Behind all but the last, the program goes on as a new one. */
  readonly generations: readonly (readonly Stage[])[]
  /** The program ends by a failure of its own. */
  readonly fails: boolean
  /** From this stage of each generation on a new version of the code, which has the same number, gives its local steps other names. */
  readonly renamedFrom: number
  /** One answer plans at most so many. */
  readonly nextMax: number
}

/** Where there are grants, more of the stages are single local steps, which run within a plan call. */
export function drawProgram(random: Random, gid: Gid, hasGrants: boolean): Program {
  const generations = [drawStages(random, hasGrants)]
  while (generations.length < 3 && random.chance(0.3)) generations.push(drawStages(random, hasGrants))
  const last = generations.at(-1) ?? []
  if (random.chance(0.25)) {
    const sole = { steps: [{ isLocal: random.chance(0.5), hasUndo: false }], ms: 0, catches: true }
    last.push({ ...sole, type: 'pivot' }, { ...sole, type: 'sure' })
  }
  const fails = last.at(-1)?.type !== 'sure' && random.chance(0.25)
  const renamedFrom = random.between(0, last.length - 1)
  return { gid, generations, fails, renamedFrom, nextMax: random.chance(0.3) ? random.between(1, 3) : 100 }
}

function drawStages(random: Random, hasGrants: boolean): Stage[] {
  const stages: Stage[] = []
  const sole = { steps: [{ isLocal: false, hasUndo: false }], catches: true }
  if (random.chance(0.4)) stages.push({ ...sole, type: 'listen', ms: random.between(400, 4_000) })
  for (let stage = random.between(1, hasGrants ? 6 : 4); stage > 0; stage--)
    stages.push(hasGrants && random.chance(0.6) ? drawInline(random) : drawStage(random))
  return stages
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

/** Draws a stage whose steps may run within a plan call. */
function drawInline(random: Random): Stage {
  return random.chance(0.3) ? drawFork(random) : drawLocal(random)
}

/** Two steps behind one timer stand beside each other, and a single one runs within the plan call. */
function drawFork(random: Random): Stage {
  const behind = Array.from({ length: random.between(2, 4) }, () => drawBehind(random))
  const steps = behind.map(() => ({ isLocal: false, hasUndo: !random.chance(0.15) }))
  const isSpread = random.chance(0.5)
  return { type: 'fork', steps, ms: random.between(1, 60), catches: random.chance(0.6), behind, isSpread }
}

function drawBehind(random: Random): Behind {
  return random.chance(0.4) ? 'two' : random.chance(0.5) ? 'one' : 'chain'
}

function drawLocal(random: Random): Stage {
  const steps = [{ isLocal: true, hasUndo: !random.chance(0.15) }]
  return { type: 'all', steps, ms: 1, catches: random.chance(0.6) }
}
