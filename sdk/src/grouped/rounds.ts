import type { JsonValue } from '@counterstep/protocol'
import { CallHandler } from './call-handler.ts'
import type { AdmittedCall, GroupPass } from './group-barrier.ts'

/** A call with its place in the group. */
export interface Member {
  readonly admitted: AdmittedCall
  readonly handler: CallHandler
  readonly place: number
  /** The first answer of the op that the call undoes, once its rows have been read. */
  readonly original?: JsonValue | undefined
}

/** Splits the calls into rounds, in their order of arrival. A round has at most one call of each branch. */
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

/**
 * Compares by branch. All transactions insert in this order, so that two groups do not wait for each other. It is for
 * calls of different branches.
 */
export function compareBranches(
  one: { readonly admitted: AdmittedCall },
  other: { readonly admitted: AdmittedCall },
): number {
  return one.admitted.branch < other.admitted.branch ? -1 : 1
}
