/** One op of one branch: what a call, its answer, a new owner and an operator make of it. The same for every kind. */
import type { RetryPolicy } from '@counterstep/protocol'
import { type OpProgress, type Transaction, targetsOf } from '../transaction.ts'
import { backoffMs, HOT_FAILURES, RETRY_BOUNDS, type RetryBounds, retryFloorMs } from './backoff.ts'
import type { CallKey, TransactionEvent } from './events.ts'

/** After this many failed attempts of a call that is never given up a person should look. It goes on all the same. */
export const ATTENTION_FAILURES = 10

/** The branch of a message's query-back. */
export const CHECK = -1

export type Answered = Extract<TransactionEvent, { readonly type: 'answered' }>
export type HeldBack = Extract<TransactionEvent, { readonly type: 'held-back' }>

/** The `nextAt` of a parked call: the last instant that a date can show. */
export const PARKED_OP_AT = 8_640_000_000_000_000

export function opOf(transaction: Transaction, { branch, op }: CallKey): OpProgress | undefined {
  if (branch === CHECK) return transaction.kind === 'message' && op === 'msg' ? transaction.check : undefined
  const progress = transaction.branches[branch] as Partial<Record<CallKey['op'], OpProgress>> | undefined
  return progress?.[op]
}

export function withOp<T extends Transaction>(
  transaction: T,
  { branch, op }: CallKey,
  progress: OpProgress,
): T {
  if (branch === CHECK) return { ...transaction, check: progress }
  const branches = transaction.branches.slice()
  branches[branch] = { ...branches[branch], [op]: progress } as T['branches'][number]
  return { ...transaction, branches }
}

/** Each op of each branch, and the query-back. */
export function mapOps<T extends Transaction>(transaction: T, map: (progress: OpProgress) => OpProgress): T
export function mapOps(transaction: Transaction, map: (progress: OpProgress) => OpProgress): Transaction {
  switch (transaction.kind) {
    case 'saga':
      return {
        ...transaction,
        branches: transaction.branches.map(({ action, compensate }) => ({
          action: map(action),
          compensate: map(compensate),
        })),
      }
    case 'tcc':
      return {
        ...transaction,
        branches: transaction.branches.map(({ confirm, cancel }) => ({
          confirm: map(confirm),
          cancel: map(cancel),
        })),
      }
    case 'message':
      return {
        ...transaction,
        check: map(transaction.check),
        branches: transaction.branches.map(({ action }) => ({ action: map(action) })),
      }
  }
}

export function someOp(transaction: Transaction, test: (progress: OpProgress) => boolean): boolean {
  switch (transaction.kind) {
    case 'saga':
      return transaction.branches.some(({ action, compensate }) => test(action) || test(compensate))
    case 'tcc':
      return transaction.branches.some(({ confirm, cancel }) => test(confirm) || test(cancel))
    case 'message':
      return test(transaction.check) || transaction.branches.some(({ action }) => test(action))
  }
}

/** These calls are being sent. */
export function sent<T extends Transaction>(transaction: T, calls: readonly CallKey[], now: number): T {
  let next = transaction
  for (const call of calls) {
    const before = opOf(next, call)
    if (before === undefined) continue
    next = withOp(next, call, {
      ...withoutNextAt(before),
      state: 'calling',
      attempts: before.attempts + 1,
      startedAt: before.startedAt ?? now,
    })
  }
  return next
}

/** What the answer is about, if it is the answer to the call that is under way. */
export function answeredOp(transaction: Transaction, event: Answered, now: number): OpProgress | undefined {
  const before = opOf(transaction, event.call)
  if (before === undefined || before.state !== 'calling' || before.attempts !== event.attempt)
    return undefined
  const { result, statusCode, excerpt, error } = event.answer
  return {
    ...withoutAnswer(before),
    result,
    endedAt: now,
    durationMs: event.durationMs,
    ...(statusCode === undefined ? {} : { statusCode }),
    ...(excerpt === undefined ? {} : { answer: excerpt }),
    ...(error === undefined ? {} : { error }),
  }
}

// Most ops have none of these, and this is on the path of every call: a copy that leaves a key out takes five times as
// long as one of the whole.

function withoutAnswer(progress: OpProgress): OpProgress {
  if (progress.result === undefined) return progress
  const { answer: _answer, error: _error, statusCode: _status, ...rest } = progress
  return rest
}

export function withoutNextAt(progress: OpProgress): OpProgress {
  if (progress.nextAt === undefined) return progress
  const { nextAt: _, ...rest } = progress
  return rest
}

/** The counters and the due time are saved before the branch is asked again, so that limits survive a crash. */
export function waitAgain(
  transaction: Transaction,
  progress: OpProgress,
  event: Answered,
  now: number,
): OpProgress {
  const { answer, jitter01, bounds = RETRY_BOUNDS } = event
  const waits = progress.waits + 1
  const counted = countAnswer({ ...progress, state: 'waiting', waits }, answer.result === 'ongoing', now)
  const { failures } = counted
  if (isTooOld(counted, bounds, now)) return { ...counted, nextAt: PARKED_OP_AT }
  const floorMs = retryFloorMs(failures, waits, bounds)
  const wait = backoffMs(
    policyOf(transaction, event.call.branch),
    waits,
    jitter01,
    answer.retryAfterMs,
    floorMs,
  )
  return { ...counted, nextAt: now + wait }
}

/** An answer ongoing shows that the branch works: the age after which its call is parked begins again. */
function countAnswer(progress: OpProgress, isOngoing: boolean, now: number): OpProgress {
  if (isOngoing) {
    if (progress.failingSince === undefined) return progress
    const { failingSince: _, ...rest } = progress
    return rest
  }
  return {
    ...progress,
    failures: progress.failures + 1,
    failingSince: progress.failingSince ?? now,
  }
}

function isTooOld(
  { failures, failingSince = Number.POSITIVE_INFINITY }: OpProgress,
  { parkAfterMs }: RetryBounds,
  now: number,
): boolean {
  return parkAfterMs !== 'never' && failures >= HOT_FAILURES && now - failingSince >= parkAfterMs
}

/**
 * Calls that found no room. They were not sent, so they count neither as attempts nor as failures nor as waits, and no
 * limit of the caller's ends them. A call that is not the one under way changes nothing.
 */
export function holdBackCalls<T extends Transaction>(transaction: T, { calls }: HeldBack, now: number): T {
  let next = transaction
  for (const held of calls) {
    const before = opOf(next, held.call)
    if (before?.state !== 'calling' || before.attempts !== held.attempt) continue
    next = withOp(next, held.call, holdBackOp(before, now + held.waitMs))
  }
  return next
}

function holdBackOp(before: OpProgress, nextAt: number): OpProgress {
  const attempts = before.attempts - 1
  const asBefore = attempts === 0 ? withoutStartedAt(before) : before
  return { ...asBefore, state: 'waiting', attempts, nextAt }
}

function withoutStartedAt({ startedAt: _, ...rest }: OpProgress): OpProgress {
  return rest
}

/** Why a person should look at a call that cannot be given up, if one should. */
export function attentionReason(
  transaction: Transaction,
  progress: OpProgress,
  { call, answer }: Answered,
): string | undefined {
  const what = textOf(transaction, call)
  const reason = parkedReason(transaction, progress, call)
  if (reason !== undefined) return reason
  if (answer.result === 'failure') return `${what} answered failure`
  if (progress.failures >= ATTENTION_FAILURES) return `${what} failed ${progress.failures} times`
  return undefined
}

/** Why a person should look at a call that is asked no more until that person says so. */
export function parkedReason(
  transaction: Transaction,
  { nextAt, failures }: OpProgress,
  call: CallKey,
): string | undefined {
  if (nextAt !== PARKED_OP_AT) return undefined
  return `${textOf(transaction, call)} is parked until it is retried: it failed ${failures} times`
}

function textOf(transaction: Transaction, { branch, op }: CallKey): string {
  if (branch === CHECK) return 'the query-back'
  const id = targetsOf(transaction)[branch]?.id ?? branch
  return `${op === 'compensate' ? 'compensation' : op} of branch ${id}`
}

/** A call of an earlier owner: its answer will not come here, so it is asked again. */
export function disowned(progress: OpProgress): OpProgress {
  return progress.state === 'calling' ? { ...progress, state: 'idle' } : progress
}

/** Without an instant, so that it does not depend on whose clock the command was given by. */
export function dueNow(progress: OpProgress): OpProgress {
  return progress.state === 'waiting' ? withoutNextAt(progress) : progress
}

export function policyOf(transaction: Transaction, branch: number): RetryPolicy {
  return targetsOf(transaction)[branch]?.retry ?? transaction.definition.retry
}

export function withoutAttention<T extends Transaction>(transaction: T): T {
  if (transaction.attention === undefined) return transaction
  const { attention: _, ...rest } = transaction
  return rest as T
}

/** Its owner has lived to see an answer, or to give it back. */
export function withoutUnanswered<T extends Transaction>(transaction: T): T {
  return transaction.claimsUnanswered === 0 ? transaction : { ...transaction, claimsUnanswered: 0 }
}

/** An operator asked for it: what waits is due now. */
export function retriedNow<T extends Transaction>(transaction: T, now: number): T {
  return {
    ...withoutAttention(mapOps(transaction, dueNow)),
    claimsUnanswered: 0,
    nudges: transaction.nudges + 1,
    updatedAt: now,
  }
}
