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
import { hasOutcome } from './settled-verdict.ts'
import { type Awaitable, type Steps, wait } from './steps.ts'
import { isTakenOut } from './take-out.ts'

/** This is the user's part of a group. */
export interface GroupWork {
  readonly apply: (calls: readonly GroupCall<unknown>[]) => Awaitable<readonly unknown[]>
  /** It is present if `apply` can decide before it writes. */
  readonly plan?: ((calls: readonly GroupCall<unknown>[]) => Awaitable<GroupPlan>) | undefined
  /** This is the deadline of the whole group. It is absent if nothing may be waited for. */
  readonly deadline?: Deadline | undefined
}

/**
 * Asks the handlers, calls `apply` once, and puts the outcomes into the verdicts. A call that failed has inserted no
 * row but its own, which the caller removes. An undo that has inserted its origin's row, too, has nothing to undo, and
 * so never runs here.
 */
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
  const results = yield* callApply(apply, ready)
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

/** Removes the rows of the calls that failed, unless the whole transaction will be rolled back anyway. */
export function* removeFailed(
  table: GroupTable,
  failed: readonly Member[],
  verdicts: readonly GroupVerdict[],
  isOneOfSeveral: boolean,
): Steps<void> {
  if (failed.length > 0 && (isOneOfSeveral || hasOutcome(verdicts)))
    yield* wait(table.remove(failed.map(({ admitted }) => admitted)))
}

interface ReadyMember {
  readonly member: Member
  readonly entry: unknown
}

function* callApply(apply: GroupWork['apply'], ready: readonly ReadyMember[]): Steps<readonly unknown[]> {
  if (ready.length === 0) return []
  const calls = ready.map(({ member, entry }) => ({ call: member.admitted.call, entry }))
  return checkResults(yield* blameCalls(() => apply(calls)), calls.length)
}

/**
 * Runs the user's code. Its error is turned into one that blames some of the calls, so that the group is rolled back
 * and taken apart.
 */
export function* blameCalls<T>(work: () => Awaitable<T>): Steps<T> {
  try {
    return yield* wait(work())
  } catch (error: unknown) {
    throw new GroupRolledBack(error)
  }
}

/** The part of a group's remaining time that its handlers may use. The rest is for `apply` and the COMMIT. */
const HANDLERS_SHARE = 0.5

/**
 * Asks the handlers of all calls at once, since the transaction is open while they work. No handler keeps the others
 * waiting for longer than the limit.
 */
function* askHandlers(
  members: readonly Member[],
  deadline: Deadline | undefined,
): Steps<readonly (HandlerResult & { readonly member: Member })[]> {
  const limit = deadline && startDeadline(Math.round(HANDLERS_SHARE * (deadline.at - performance.now())))
  const started = members.map((member) => ({ member, made: member.handler.ask(limit, member.original) }))
  const entries: (HandlerResult & { readonly member: Member })[] = []
  for (const { member, made } of started) {
    entries.push({ member, ...(made instanceof Promise ? yield* wait(made) : made) })
  }
  return entries
}
