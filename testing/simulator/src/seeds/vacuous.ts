/** Finds the reasons why a run proves too little, because its faults did not occur often enough. */
import type { Counters } from './counters.ts'

/** A run of fewer seeds may miss some fault by chance, and is not judged. */
export const SEEDS_MIN = 2_000

/** These counters show what clients may see, not which faults occurred. */
const MAY_BE_ZERO: readonly (keyof Counters)[] = ['staleViews']
/** The least counts in 1,000 seeds, where one occurrence is not enough. */
const MINIMA: { readonly [name in keyof Counters]?: number } = {
  crashesInFlight: 200,
  pauses: 100,
  takeovers: 500,
  fencedWrites: 50,
  conflicts: 100,
  ambiguousWrites: 1_000,
  repeatedWrites: 200,
  lostLazySaves: 20,
  hungRequests: 200,
  clockJumps: 50,
  clockStops: 20,
  driftingClocks: 50,
  duplicates: 100,
  heldBack: 500,
  nullCompensations: 20,
  hangingRefused: 20,
  reordered: 50,
  poisonedCalls: 50,
  resubmits: 200,
  remoteCommands: 200,
}
/** At least this part of the kills must hit a node that runs a transaction. */
const IN_FLIGHT_SHARE = 0.8

/** Lists the reasons why a run proves less than it claims. There are none where the run has too few seeds to judge. */
export function vacuous(counters: Counters, seeds: number): string[] {
  if (seeds < SEEDS_MIN) return []
  const reasons: string[] = []
  for (const [name, count] of Object.entries(counters) as [keyof Counters, number][]) {
    if (MAY_BE_ZERO.includes(name)) continue
    const least = Math.max(1, Math.floor(((MINIMA[name] ?? 0) * seeds) / 1_000))
    if (count < least) reasons.push(`${name} is ${count}, less than ${least}`)
  }
  if (counters.crashesInFlight < IN_FLIGHT_SHARE * counters.crashes)
    reasons.push(`only ${counters.crashesInFlight} of ${counters.crashes} kills hit work`)
  return reasons
}
