/**
 * The progress of one op of one branch: how a call, its answer, a new
 * owner and an operator change it. All kinds share it.
 */
import type { RetryPolicy } from '@counterstep/protocol'
import { findEdit } from '../record/edits.ts'
import { getBranchTargets, type OpProgress, type Transaction } from '../transaction.ts'
import { addAttempt } from './attempt-runs.ts'
import { backoffMs, RETRY_BOUNDS, type RetryBounds, retryFloorMs, SLOW_AFTER_WAITS } from './backoff.ts'
import type { CallKey, TransactionEvent } from './events.ts'

/**
 * After this many failures of a call that is never given up, a person
 * should look at it. The retries go on all the same.
 */
export const ATTENTION_FAILURES = 10

/** The branch number that stands for a message's query-back, and for the callback of a recorded workflow. */
export const CHECK = -1
/** The branch number that stands for the plan of a workflow. */
export const PLAN = -2

export type Answered = Extract<TransactionEvent, { readonly type: 'answered' }>
export type HeldBack = Extract<TransactionEvent, { readonly type: 'held-back' }>

/** Attention because of a plan begins with these words. */
export const PLAN_WORDS = 'the plan'
/** The error of a call that the targets of the node do not allow. */
const NOT_ALLOWED = 'denied-target'
const UNSENDABLE = ' cannot be sent: '
/** The mark of an earlier version, whose waits behind the point of no return could stay closed. */
const UNOPENABLE = ' cannot open: '

/** The `nextAt` of a parked call. It is the last instant that a date can show. */
export const PARKED_OP_AT = 8_640_000_000_000_000

export function findOp(transaction: Transaction, { branch, op }: CallKey): OpProgress | undefined {
  if (branch === CHECK) {
    const hasCheck = transaction.kind === 'message' || transaction.kind === 'recorded'
    return hasCheck && op === 'msg' ? transaction.check : undefined
  }
  if (branch === PLAN)
    return transaction.kind === 'workflow' && op === 'plan' ? transaction.plan.call : undefined
  const progress = transaction.branches[branch] as Partial<Record<CallKey['op'], OpProgress>> | undefined
  return progress?.[op]
}

export function withOp<T extends Transaction>(
  transaction: T,
  { branch, op }: CallKey,
  progress: OpProgress,
): T {
  if (branch === CHECK) return { ...transaction, check: progress }
  if (branch === PLAN && transaction.kind === 'workflow')
    return { ...transaction, plan: { ...transaction.plan, call: progress } }
  const branches = transaction.branches.slice()
  branches[branch] = { ...branches[branch], [op]: progress } as T['branches'][number]
  return { ...transaction, branches }
}

/** Maps each op of each branch, and the call that belongs to none. */
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
    case 'xa':
      return {
        ...transaction,
        branches: transaction.branches.map(({ commit, rollback }) => ({
          commit: map(commit),
          rollback: map(rollback),
        })),
      }
    case 'message':
      return {
        ...transaction,
        check: map(transaction.check),
        branches: transaction.branches.map(({ action }) => ({ action: map(action) })),
      }
    case 'recorded':
      return { ...transaction, check: map(transaction.check) }
    case 'workflow':
      return {
        ...transaction,
        plan: { ...transaction.plan, call: map(transaction.plan.call) },
        branches: transaction.branches.map(({ action, compensate }) => ({
          action: map(action),
          compensate: map(compensate),
        })),
      }
  }
}

export function someOp(transaction: Transaction, test: (progress: OpProgress) => boolean): boolean {
  switch (transaction.kind) {
    case 'saga':
      return transaction.branches.some(({ action, compensate }) => test(action) || test(compensate))
    case 'tcc':
      return transaction.branches.some(({ confirm, cancel }) => test(confirm) || test(cancel))
    case 'xa':
      return transaction.branches.some(({ commit, rollback }) => test(commit) || test(rollback))
    case 'message':
      return test(transaction.check) || transaction.branches.some(({ action }) => test(action))
    case 'recorded':
      return test(transaction.check)
    case 'workflow':
      return (
        test(transaction.plan.call) ||
        transaction.branches.some(({ action, compensate }) => test(action) || test(compensate))
      )
  }
}

/** Records that these calls are being sent. */
export function markSent<T extends Transaction>(transaction: T, calls: readonly CallKey[], now: number): T {
  let next = transaction
  for (const call of calls) {
    const before = findOp(next, call)
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

/** Records an answer in the progress of its op. Undefined: it does not answer the call that is under way. */
export function recordAnswer(transaction: Transaction, event: Answered, now: number): OpProgress | undefined {
  const before = findOp(transaction, event.call)
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
    ...(result === 'success' ? {} : { runs: addAttempt(before.runs, event, now) }),
  }
}

// Most ops have none of these keys, and every call comes through here. A copy that
// leaves a key out takes five times as long as a copy of the whole.

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

/**
 * Counts an answer that was not definite, and sets the next due time. Both are
 * saved before the next call, so that limits survive a crash.
 */
export function waitAgain(
  transaction: Transaction,
  progress: OpProgress,
  event: Answered,
  now: number,
): OpProgress {
  const before = { ...progress, state: 'waiting', waits: progress.waits + 1 } as const
  const counted = countAnswer(before, event.answer.result === 'ongoing', now)
  return { ...counted, nextAt: planNext(transaction, counted, event, now) }
}

/** Returns the next due time of a call by what is counted. */
function planNext(
  transaction: Transaction,
  counted: OpProgress,
  { answer, jitter01, bounds = RETRY_BOUNDS, call }: Answered,
  now: number,
): number {
  const { failures, waits } = counted
  if (isTooOld(counted, bounds, now)) return PARKED_OP_AT
  const floorMs = retryFloorMs(failures, waits, bounds)
  const wait = backoffMs(findPolicy(transaction, call), waits, jitter01, answer.retryAfterMs, floorMs)
  return now + Math.max(wait, Math.ceil(bounds.turnMs ?? 0))
}

/**
 * Counts so an answer to a call with a retry limit, or null for none. A call that the node may not make spends no limit: nothing
 * was sent, and another node may have what it lacks, such as the function of a branch while a deployment rolls. Its waits grow, and it
 * is parked in the end, as after failures.
 */
export function waitAgainWithin(
  limit: number | null,
  transaction: Transaction,
  progress: OpProgress,
  event: Answered,
  now: number,
): OpProgress {
  if (limit === null || event.answer.error !== NOT_ALLOWED)
    return waitAgain(transaction, progress, event, now)
  const waits = progress.waits + 1
  const counted = {
    ...progress,
    state: 'waiting',
    waits,
    failingSince: progress.failingSince ?? now,
  } as const
  // All waits stand for failures here, so that each wait is longer. They are not kept as such.
  return { ...counted, nextAt: planNext(transaction, { ...counted, failures: waits }, event, now) }
}

/** An answer `ongoing` shows that the branch works, so the age after which its call is parked starts again. */
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
  return parkAfterMs !== 'never' && failures >= SLOW_AFTER_WAITS && now - failingSince >= parkAfterMs
}

/**
 * Puts off calls that found no place at their target. They were not sent, so they count neither as attempts nor as
 * failures nor as waits, and no retry limit ends them. A call that is not the one under way changes nothing.
 */
export function holdBackCalls<T extends Transaction>(transaction: T, { calls }: HeldBack, now: number): T {
  let next = transaction
  for (const held of calls) {
    const before = findOp(next, held.call)
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

/** Returns why a person should look at a call that cannot be given up. Undefined: there is no reason yet. */
export function attentionReason(
  transaction: Transaction,
  progress: OpProgress,
  { call, answer }: Answered,
): string | undefined {
  const what = describeCall(transaction, call)
  const reason = parkedReason(transaction, progress, call)
  if (reason !== undefined) return reason
  if (answer.result === 'failure') return `${what} answered failure`
  if (progress.failures >= ATTENTION_FAILURES) return `${what} failed ${progress.failures} times`
  return undefined
}

/** Returns why a person should look at a parked call, which is not made again until an operator retries it. */
export function parkedReason(
  transaction: Transaction,
  { nextAt, failures, error }: OpProgress,
  call: CallKey,
): string | undefined {
  if (nextAt !== PARKED_OP_AT) return undefined
  const why =
    error === NOT_ALLOWED
      ? 'this server may not call its target, or lacks its function'
      : `it failed ${failures} times`
  return `${describeCall(transaction, call)} is parked until it is retried: ${why}`
}

/** Says for a person that a call cannot be built or may not be made, so that it waits until an operator acts. */
export function describeUnsendable(transaction: Transaction, call: CallKey, reason: string): string {
  return `${describeCall(transaction, call)}${UNSENDABLE}${reason}`
}

/** Whether the mark of the transaction says that a request or a wait lacks its values. */
export function isUnsendable({ attention = '' }: Pick<Transaction, 'attention'>): boolean {
  return attention.includes(UNSENDABLE) || attention.includes(UNOPENABLE)
}

function describeCall(transaction: Transaction, { branch, op }: CallKey): string {
  if (branch === CHECK) return transaction.kind === 'recorded' ? 'the callback' : 'the query-back'
  if (branch === PLAN) return PLAN_WORDS
  const id = getBranchTargets(transaction)[branch]?.id ?? branch
  return `${op === 'compensate' ? 'compensation' : op} of branch ${id}`
}

/** Resets a call of an earlier owner. Its answer will not arrive here, so the call is made again. */
export function releaseOrphanedCall(progress: OpProgress): OpProgress {
  return progress.state === 'calling' ? { ...progress, state: 'idle' } : progress
}

/** Makes a waiting op due. It removes the instant instead of setting one, so that no node's clock matters. */
export function makeDue(progress: OpProgress): OpProgress {
  return progress.state === 'waiting' ? withoutNextAt(progress) : progress
}

export function findPolicy(transaction: Transaction, call: CallKey): RetryPolicy {
  const edited = transaction.edits === undefined ? undefined : findEdit(transaction, call)?.retry
  return edited ?? getBranchTargets(transaction)[call.branch]?.retry ?? transaction.definition.retry
}

export function withoutAttention<T extends Transaction>(transaction: T): T {
  if (transaction.attention === undefined) return transaction
  const { attention: _, ...rest } = transaction
  return rest as T
}

/** Resets the count of claims without an answer, because the owner has seen an answer or gives the row back. */
export function withoutUnanswered<T extends Transaction>(transaction: T): T {
  return transaction.claimsUnanswered === 0 ? transaction : { ...transaction, claimsUnanswered: 0 }
}

/** Applies an operator's retry: every op that waits is due now. */
export function retryNow<T extends Transaction>(transaction: T, now: number): T {
  return {
    ...withoutAttention(mapOps(transaction, makeDue)),
    claimsUnanswered: 0,
    manualRetries: transaction.manualRetries + 1,
    updatedAt: now,
  }
}

/** Lists every op that an orchestrator may call, whether or not it is due. */
export function listCalls(transaction: Transaction): readonly CallKey[] {
  const branches = [...transaction.branches.keys()]
  const both = (first: CallKey['op'], second: CallKey['op']) =>
    branches.flatMap((branch) => [
      { branch, op: first },
      { branch, op: second },
    ])
  switch (transaction.kind) {
    case 'saga':
      return both('action', 'compensate')
    case 'tcc':
      return both('confirm', 'cancel')
    case 'xa':
      return both('commit', 'rollback')
    case 'message':
      return [{ branch: CHECK, op: 'msg' }, ...branches.map((branch) => ({ branch, op: 'action' as const }))]
    case 'recorded':
      return [{ branch: CHECK, op: 'msg' }]
    case 'workflow':
      return [{ branch: PLAN, op: 'plan' }, ...both('action', 'compensate')]
  }
}
