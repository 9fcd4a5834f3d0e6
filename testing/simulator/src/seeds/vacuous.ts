/** A run in which the faults did not bite has proved nothing. */
import type { Counters } from './counters.ts'

/** Fewer seeds may well miss something by chance. */
export const SEEDS_MIN = 2_000

/** Tell of what a client may see, not of what the faults did. */
const MAY_BE_ZERO: readonly (keyof Counters)[] = ['staleViews']
/** Of 1,000 seeds at least so many, where once is not enough. */
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
/** Of the kills: so many at least hit a node that runs something. */
const IN_FLIGHT_SHARE = 0.8

/** Reasons why a run proves less than it says; none where there are too few seeds to tell. */
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
