import { AskedHandler } from './call-handler.ts'
import type { AdmittedCall, GroupPass } from './group-barrier.ts'

/** A call with its place in the group. */
export interface Member {
  readonly admitted: AdmittedCall
  readonly handler: AskedHandler
  readonly place: number
}

/** Each wave has at most one call of a branch; in their order of arrival. */
export function wavesOf(passes: readonly GroupPass[]): readonly (readonly Member[])[] {
  const waves: Member[][] = []
  const calls = new Map<string, number>()
  for (const [place, { admitted, entry }] of passes.entries()) {
    const earlier = calls.get(admitted.branch) ?? 0
    calls.set(admitted.branch, earlier + 1)
    const wave = waves[earlier] ?? []
    waves[earlier] = wave
    wave.push({ admitted, handler: new AskedHandler(entry), place })
  }
  return waves
}

/** One order for all transactions, so that two groups do not wait for each other. For calls of different branches. */
export function byBranch(
  one: { readonly admitted: AdmittedCall },
  other: { readonly admitted: AdmittedCall },
): number {
  return one.admitted.branch < other.admitted.branch ? -1 : 1
}
