import { type Deadline, startDeadline } from '../barrier/deadline.ts'
import { toOutcome } from '../barrier/decide-call.ts'
import { toAnswerText } from '../barrier/stored-answer.ts'
import type { HandlerResult } from './call-handler.ts'
import { checkResults } from './check-results.ts'
import type { GroupCall, GroupVerdict } from './group-barrier.ts'
import { GroupRolledBack } from './group-rolled-back.ts'
import type { GroupTable, KeptAnswer } from './group-table.ts'
import type { GroupPlan } from './planned-apply.ts'
import type { Member } from './rounds.ts'
import { type Awaitable, type Steps, wait } from './steps.ts'
import { isTakenOut } from './take-out.ts'

/** The business's part of a group. */
export interface GroupWork {
  readonly apply: (calls: readonly GroupCall<unknown>[]) => Awaitable<readonly unknown[]>
  /** Of an `apply` that can decide before it writes. */
  readonly plan?: ((calls: readonly GroupCall<unknown>[]) => Awaitable<GroupPlan>) | undefined
  /** Of the whole group; none where nothing may be waited for. */
  readonly deadline?: Deadline | undefined
}

/** What the business says of each call, in the verdicts. Of a call that failed, no row but its own may stand: with the origin's it would not run. */
export function* applyRound(
  running: readonly Member[],
  { apply, deadline }: Pick<GroupWork, 'apply' | 'deadline'>,
  verdicts: GroupVerdict[],
): Steps<{ readonly kept: readonly KeptAnswer[]; readonly failed: readonly Member[] }> {
  const failed: Member[] = []
  const fail = (member: Member, error: unknown): void => {
    verdicts[member.place] = { error }
    failed.push(member)
  }
  const ready: ReadyMember[] = []
  for (const made of yield* askHandlers(running, deadline)) {
    if ('error' in made) fail(made.member, made.error)
    else ready.push(made)
  }
  const kept: KeptAnswer[] = []
  const blamed = new Map<number, unknown>()
  const results = yield* applied(apply, ready)
  for (const [at, { member }] of ready.entries()) {
    const { place, admitted } = member
    const result = results[at]
    if (result instanceof Error) {
      fail(member, result)
      continue
    }
    try {
      if (isTakenOut(result)) throw result.error
      const answer = toAnswerText(result)
      kept.push({ admitted, answer })
      verdicts[place] = { outcome: toOutcome('run', answer) }
    } catch (error: unknown) {
      blamed.set(place, error)
    }
  }
  if (blamed.size > 0) throw new GroupRolledBack(undefined, { blamed })
  return { kept, failed }
}

/** The rows of those that failed, unless all of the transaction will be rolled back. */
export function* removeFailed(
  table: GroupTable,
  failed: readonly Member[],
  rowsKept: number,
  isOneOfSeveral: boolean,
): Steps<void> {
  if (failed.length > 0 && (rowsKept > 0 || isOneOfSeveral))
    yield* wait(table.remove(failed.map(({ admitted }) => admitted)))
}

interface ReadyMember {
  readonly member: Member
  readonly entry: unknown
}

function* applied(apply: GroupWork['apply'], ready: readonly ReadyMember[]): Steps<readonly unknown[]> {
  if (ready.length === 0) return []
  const calls = ready.map(({ member, entry }) => ({ call: member.admitted.call, entry }))
  return checkResults(yield* blameCalls(() => apply(calls)), calls.length)
}

/** What the business throws rolls the group back because of some of its calls. */
export function* blameCalls<T>(work: () => Awaitable<T>): Steps<T> {
  try {
    return yield* wait(work())
  } catch (error: unknown) {
    throw new GroupRolledBack(error)
  }
}

/** Of the time that is left to a group: the rest is for `apply` and the COMMIT. */
const HANDLERS_SHARE = 0.5

/**
 * Asks the handlers of all calls at once, since the transaction is open while they work. One that is late keeps the
 * others waiting for no longer than its limit.
 */
function* askHandlers(
  members: readonly Member[],
  deadline: Deadline | undefined,
): Steps<readonly (HandlerResult & { readonly member: Member })[]> {
  const limit = deadline && startDeadline(Math.round(HANDLERS_SHARE * (deadline.at - performance.now())))
  const started = members.map((member) => ({ member, made: member.handler.made(limit) }))
  const entries: (HandlerResult & { readonly member: Member })[] = []
  for (const { member, made } of started) {
    entries.push({ member, ...(made instanceof Promise ? yield* wait(made) : made) })
  }
  return entries
}
