/** Runs many worlds, one after the other, up to the first that fails. */

import { type SimulationResult, simulate } from '../simulate.ts'
import { addCounters, type Counters, newCounters } from './counters.ts'
import { formatSeed, type ReducedSeed } from './reduction.ts'

export interface SeedsRun {
  readonly counters: Counters
  readonly seeds: number
  readonly events: number
  readonly hash: number
  /** The longest time that any world took for its last end after the heal. */
  readonly slowestMs: number
  readonly failing: (ReducedSeed & { readonly result: SimulationResult }) | undefined
}

export interface SeedsAsked {
  readonly seeds: Iterable<ReducedSeed>
  readonly mutant?: string | undefined
  readonly progress?: ((seeds: number) => void) | undefined
}

export function runSeeds({ seeds, mutant, progress }: SeedsAsked): SeedsRun {
  const counters = newCounters()
  let [count, events, hash, slowestMs] = [0, 0, 0, 0]
  for (const { seed, reduction } of seeds) {
    const result = simulate(seed, mutant, { reduction })
    addCounters(counters, result.counters)
    count++
    events += result.events
    hash = (Math.imul(hash, 31) + result.traceHash) >>> 0
    slowestMs = Math.max(slowestMs, result.healMs)
    progress?.(count)
    if (result.violations.length > 0)
      return { counters, seeds: count, events, hash, slowestMs, failing: { seed, reduction, result } }
  }
  return { counters, seeds: count, events, hash, slowestMs, failing: undefined }
}

/** Describes a failure for people: the violations, and the command that shows them again. */
export function describeFailure({ seed, reduction, result }: NonNullable<SeedsRun['failing']>): string {
  const lines = result.violations.map(
    ({ invariant, gid, at, text }) => `${invariant} ${gid} at ${at}: ${text}`,
  )
  const again = `npm run simulate -- --only "${formatSeed({ seed, reduction })}"`
  return [...lines, again].join('\n')
}
