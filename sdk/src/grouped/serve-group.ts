import type { BarrierOutcome } from '../barrier/barrier.ts'
import { BranchError } from '../branch/branch-errors.ts'
import type { GroupApply, GroupDoor, GroupPass } from './group-barrier.ts'
import { type GroupRolledBack, isGroupRolledBack } from './group-rolled-back.ts'

/** A call that waits for its group. */
export interface WaitingCall extends GroupPass {
  /** On the clock of `performance`. */
  readonly waitingSince: number
  settle(outcome: BarrierOutcome): void
  reject(error: unknown): void
}

/** How long a group may be taken apart. What is left then is asked again by its callers, and meets other company. */
const TAKE_APART_FOR_MS = 5_000

/**
 * Serves all calls, whatever some of them do to the others; never rejects. A call is answered only by a transaction
 * that committed, or in which it was alone: what it was told in a group that was rolled back came of things that never
 * happened.
 */
export async function serveGroup<Tx>(
  door: GroupDoor<Tx>,
  apply: GroupApply<Tx, unknown>,
  calls: readonly WaitingCall[],
): Promise<void> {
  const endAt = performance.now() + TAKE_APART_FOR_MS
  const serve = async (group: readonly WaitingCall[]): Promise<void> => {
    let error: unknown
    try {
      const verdicts = await door.run(group, apply)
      for (const [place, call] of group.entries()) settle(call, verdicts[place])
      return
    } catch (thrown: unknown) {
      error = thrown
    }
    if (!isGroupRolledBack(error)) return rejectAll(group, error)
    const [only, ...others] = group
    if (only !== undefined && others.length === 0) return only.reject(causeOf(error))
    if (performance.now() > endAt) return rejectAll(group, tookTooLong(error))
    for (const part of partsOf(group, error.blamed)) await serve(part)
  }
  await serve(calls)
}

function settle(
  call: WaitingCall,
  verdict: Awaited<ReturnType<GroupDoor<never>['run']>>[number] | undefined,
): void {
  if (verdict === undefined)
    call.reject(new BranchError('BRANCH_ERROR', 'the group left a call without a verdict'))
  else if ('outcome' in verdict) call.settle(verdict.outcome)
  else call.reject(verdict.error)
}

function rejectAll(group: readonly WaitingCall[], error: unknown): void {
  for (const call of group) call.reject(error)
}

/** Of a group of one. */
function causeOf({ blamed, cause }: GroupRolledBack): unknown {
  return blamed === undefined ? cause : blamed.get(0)
}

/** Not the error itself: it may be a business failure, and of none of these calls is it known to be theirs. */
function tookTooLong(error: GroupRolledBack): BranchError {
  const [blamed] = error.blamed?.values() ?? []
  return new BranchError('BRANCH_ERROR', 'the group was taken apart for too long', error.cause ?? blamed)
}

/** Those that nobody blames together, and each other one by itself; halves, if nobody knows. In their order. */
function partsOf(
  group: readonly WaitingCall[],
  blamed: ReadonlyMap<number, unknown> | undefined,
): readonly (readonly WaitingCall[])[] {
  if (blamed === undefined) {
    const half = Math.ceil(group.length / 2)
    return [group.slice(0, half), group.slice(half)]
  }
  const rest = group.filter((_, place) => !blamed.has(place))
  const alone = group.filter((_, place) => blamed.has(place)).map((call) => [call])
  return rest.length === 0 ? alone : [rest, ...alone]
}
