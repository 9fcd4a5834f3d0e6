/**
 * Makes the world of a failing seed smaller while it still fails: fewer faults, fewer transactions, an earlier heal.
 */

import { type SimulationResult, simulate } from '../simulate.ts'
import { FAULT_NAMES } from '../world/faults.ts'
import { type Reduction, WHOLE } from './reduction.ts'

export interface Shrunk {
  readonly reduction: Reduction
  readonly invariant: string
  readonly result: SimulationResult
  readonly runs: number
}

const RUNS_MAX = 400
const HEAL_STEP_MS_MIN = 50

/**
 * Shrinks a seed. Undefined: the seed does not fail. The smaller world
 * breaks the same invariant first as the whole world.
 */
export function shrink(seed: number, mutant?: string): Shrunk | undefined {
  const whole = simulate(seed, mutant)
  const invariant = whole.violations[0]?.invariant
  if (invariant === undefined) return undefined
  let best: Shrunk = { reduction: WHOLE, invariant, result: whole, runs: 1 }
  const mayTake = (reduction: Reduction): boolean => {
    if (best.runs >= RUNS_MAX) return false
    const result = simulate(seed, mutant, { reduction })
    const runs = best.runs + 1
    // A reduction may turn the world into a different, larger one.
    const isSmaller = result.events <= best.result.events
    const fails = isSmaller && result.violations[0]?.invariant === invariant
    best = fails ? { reduction, invariant, result, runs } : { ...best, runs }
    return fails
  }
  let isSmaller = true
  while (isSmaller) {
    const before = best.reduction
    for (const gid of best.result.gids)
      mayTake({ ...best.reduction, dropped: [...best.reduction.dropped, gid] })
    for (const name of FAULT_NAMES)
      if (best.result.faults[name] > 0) mayTake({ ...best.reduction, off: [...best.reduction.off, name] })
    healEarlier(() => best, mayTake)
    isSmaller = best.reduction !== before
  }
  return best
}

function healEarlier(best: () => Shrunk, mayTake: (reduction: Reduction) => boolean): void {
  let stepMs = Math.floor(best().result.healAtMs / 2)
  while (stepMs >= HEAL_STEP_MS_MIN) {
    const { reduction, result } = best()
    const healAtMs = result.healAtMs - stepMs
    if (healAtMs <= 0 || !mayTake({ ...reduction, healAtMs })) stepMs = Math.floor(stepMs / 2)
  }
}
