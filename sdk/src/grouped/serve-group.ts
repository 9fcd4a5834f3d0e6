import type { BarrierOutcome } from '../barrier/barrier.ts'
import { BranchError } from '../branch/branch-errors.ts'
import type { GroupApply, GroupBarrier, GroupPass, GroupVerdict } from './group-barrier.ts'
import { type GroupRolledBack, isGroupRolledBack } from './group-rolled-back.ts'
import { runAlone } from './run-alone.ts'

/** A call that waits for its group. */
export interface WaitingCall extends GroupPass {
  /** This is a time of `performance.now()`. */
  readonly waitingSince: number
  settle(outcome: BarrierOutcome): void
  reject(error: unknown): void
}

/**
 * Says for how long a group may be taken apart. After that the remaining calls are rejected. Their callers ask again,
 * and each call is then in a group with other calls.
 */
const TAKE_APART_FOR_MS = 5_000
/**
 * Says into how many parts a group is split that waited for a lock in vain. Each level costs one wait for a lock. 1,000
 * calls take three levels in parts of 16, and would take ten in halves.
 */
const LOCKED_OUT_PARTS = 16
/** Says how many parts of one group run at once, each on a connection of its own. */
const PARTS_AT_ONCE = 4

/**
 * Serves all calls of a group, also if some of them make the others fail. It never rejects. A call is answered only
 * by a transaction that committed, or by one in which it was alone. Its verdict in a group that was rolled back does
 * not count, since it may depend on effects that never happened.
 */
export async function serveGroup<Tx>(
  barrier: GroupBarrier<Tx>,
  apply: GroupApply<Tx, unknown>,
  calls: readonly WaitingCall[],
): Promise<void> {
  const [first, ...more] = calls
  if (first !== undefined && more.length === 0) return serveAlone(barrier, apply, first)
  const endAt = performance.now() + TAKE_APART_FOR_MS
  const semaphore = new Semaphore(PARTS_AT_ONCE)
  const serve = async (group: readonly WaitingCall[], because?: GroupRolledBack): Promise<void> => {
    const error = await semaphore.run(async () => {
      if (because !== undefined && performance.now() > endAt)
        return rejectAll(group, toTookTooLongError(because))
      return runGroup(barrier, apply, group)
    })
    if (error === undefined) return
    const parts = splitGroup(group, error)
    if (error.isLockedOut) await Promise.all(parts.map((part) => serve(part, error)))
    else for (const part of parts) await serve(part, error)
  }
  await serve(calls)
}

async function serveAlone<Tx>(
  barrier: GroupBarrier<Tx>,
  apply: GroupApply<Tx, unknown>,
  call: WaitingCall,
): Promise<void> {
  try {
    call.settle(await runAlone(barrier, apply, call))
  } catch (error: unknown) {
    call.reject(error)
  }
}

/** Settles all calls, or resolves with the reason why they cannot be served together. */
async function runGroup<Tx>(
  { groupRunner }: GroupBarrier<Tx>,
  apply: GroupApply<Tx, unknown>,
  group: readonly WaitingCall[],
): Promise<GroupRolledBack | undefined> {
  try {
    const verdicts = await groupRunner.run(group, apply)
    for (const [place, call] of group.entries()) settle(call, verdicts[place])
    return undefined
  } catch (error: unknown) {
    if (!isGroupRolledBack(error)) return rejectAll(group, error)
    if (group.length > 1) return error
    return rejectAll(group, readCause(error))
  }
}

function settle(call: WaitingCall, verdict: GroupVerdict | undefined): void {
  if (verdict === undefined)
    call.reject(new BranchError('BRANCH_ERROR', 'the group left a call without a verdict'))
  else if ('outcome' in verdict) call.settle(verdict.outcome)
  else call.reject(verdict.error)
}

function rejectAll(group: readonly WaitingCall[], error: unknown): undefined {
  for (const call of group) call.reject(error)
}

/** Returns the error of the only call of a group. */
function readCause({ blamed, cause, isLockedOut }: GroupRolledBack): unknown {
  if (isLockedOut)
    return new BranchError('BARRIER_CONTENDED', 'another transaction has locked a row that it needs', cause)
  return blamed === undefined ? cause : blamed.get(0)
}

/**
 * Makes a new error instead of passing on the cause, because the cause may be a business failure of only one of these
 * calls, and it is not known which.
 */
function toTookTooLongError(error: GroupRolledBack): BranchError {
  const [blamed] = error.blamed?.values() ?? []
  const code = error.isLockedOut ? 'BARRIER_CONTENDED' : 'BRANCH_ERROR'
  return new BranchError(code, 'the group was taken apart for too long', error.cause ?? blamed)
}

/**
 * Splits a group that was rolled back. If it is known which calls are to blame, each of them is alone and the others
 * stay together; otherwise the parts are equal. The calls stay in their order.
 */
function splitGroup(
  group: readonly WaitingCall[],
  { blamed, isLockedOut }: GroupRolledBack,
): readonly (readonly WaitingCall[])[] {
  if (blamed === undefined) return splitEqually(group, isLockedOut ? LOCKED_OUT_PARTS : 2)
  const rest = group.filter((_, place) => !blamed.has(place))
  const alone = group.filter((_, place) => blamed.has(place)).map((call) => [call])
  return rest.length === 0 ? alone : [rest, ...alone]
}

function splitEqually(group: readonly WaitingCall[], count: number): readonly (readonly WaitingCall[])[] {
  const size = Math.ceil(group.length / count)
  const parts: (readonly WaitingCall[])[] = []
  for (let at = 0; at < group.length; at += size) parts.push(group.slice(at, at + size))
  return parts
}

/** Lets at most `count` pieces of work run at once. The others wait for their turn, in their order. */
class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
