import { CallHandler } from './call-handler.ts'
import type { AdmittedCall, GroupPass } from './group-barrier.ts'

/** A call with its place in the group. */
export interface Member {
  readonly admitted: AdmittedCall
  readonly handler: CallHandler
  readonly place: number
}

/** Each wave has at most one call of a branch; in their order of arrival. */
export function toRounds(passes: readonly GroupPass[]): readonly (readonly Member[])[] {
  const rounds: Member[][] = []
  const calls = new Map<string, number>()
  for (const [place, { admitted, entry }] of passes.entries()) {
    const earlier = calls.get(admitted.branch) ?? 0
    calls.set(admitted.branch, earlier + 1)
    const round = rounds[earlier] ?? []
    rounds[earlier] = round
    round.push({ admitted, handler: new CallHandler(entry), place })
  }
  return rounds
}

/** One order for all transactions, so that two groups do not wait for each other. For calls of different branches. */
export function compareBranches(
  one: { readonly admitted: AdmittedCall },
  other: { readonly admitted: AdmittedCall },
): number {
  return one.admitted.branch < other.admitted.branch ? -1 : 1
}
