/**
 * The rules of a recorded workflow, which is DTM's own kind of workflow: its client runs it, reports each step that it has done, and
 * says how it ends. While it has not ended, the client is called back, so that one that was killed goes on. No answer of a
 * callback decides anything. A report is a sign of life, and puts the next callback off.
 */
import {
  type AbortDecision,
  isFinal,
  type OpProgress,
  type RecordedTransaction,
  type StepRecord,
} from '../transaction.ts'
import type { Durability, RecordedEnd, TransactionEffect, TransactionEvent } from './events.ts'
import {
  type Answered,
  attentionReason,
  CHECK,
  holdBackCalls,
  markSent,
  recordAnswer,
  releaseOrphanedCall,
  retryNow,
  waitAgain,
  withOp,
  withoutAttention,
} from './op-progress.ts'

export interface FoldedRecorded {
  readonly next: RecordedTransaction
  readonly durability: Durability
}

type Prepared = Extract<RecordedTransaction, { readonly status: 'prepared' }>

export function foldRecorded(
  recorded: RecordedTransaction,
  event: TransactionEvent,
  now: number,
): FoldedRecorded {
  if (isFinal(recorded)) return ignoreEvent(recorded)
  switch (event.type) {
    case 'claimed': {
      const { epoch, sentUnknown } = event
      const check = releaseCallback(recorded.check)
      return { next: { ...recorded, check, epoch, sentUnknown }, durability: 'none' }
    }
    case 'sent':
      return { next: markSent(recorded, event.calls, now), durability: 'none' }
    case 'answered':
      return waitAfterAnswer(recorded, event, now)
    case 'held-back':
      return { next: notBefore(holdBackCalls(recorded, event, now), recorded.check), durability: 'none' }
    case 'record-asked':
      return addRecord(recorded, event.record, now)
    case 'end-asked':
      return { next: end(recorded, event.end, now), durability: 'strong' }
    case 'retry-asked':
      return { next: retryNow(recorded, now), durability: 'strong' }
    case 'stop-asked':
      return {
        next: { ...withoutAttention(recorded), status: 'stopped', finishedAt: now, updatedAt: now },
        durability: 'strong',
      }
    case 'time':
    case 'submit-asked':
    case 'abort-asked':
    case 'register-asked':
    case 'signal-asked':
    case 'pause-asked':
    case 'resume-asked':
    case 'retry-op-asked':
    case 'skip-asked':
    case 'edit-asked':
      return ignoreEvent(recorded)
  }
}

export function recordedEffects(recorded: RecordedTransaction, now: number): readonly TransactionEffect[] {
  if (isFinal(recorded) || recorded.check.state === 'calling') return []
  const at = callbackAt(recorded)
  return at > now ? [{ type: 'wake-at', at }] : [{ type: 'call', call: { branch: CHECK, op: 'msg' } }]
}

/** Returns when its client is called back next, unless it reports something before. */
export function callbackAt({ check, createdAt, definition, manualRetries }: RecordedTransaction): number {
  const isFirst = check.state === 'idle' && check.attempts === 0 && manualRetries === 0
  // One that was called by an owner that is gone, or that an operator retries, is due now.
  return check.nextAt ?? (isFirst ? createdAt + definition.retry.initialMs : createdAt)
}

export function findRecord(
  { records }: RecordedTransaction,
  { branchId, op }: Pick<StepRecord, 'branchId' | 'op'>,
): StepRecord | undefined {
  return records.find((record) => record.branchId === branchId && record.op === op)
}

export function isSameRecord(a: StepRecord, b: StepRecord): boolean {
  return a.status === b.status && a.data === b.data
}

/** Tells whether the transaction has ended in this way. */
export function hasEndedBy(recorded: RecordedTransaction, end: RecordedEnd): boolean {
  return end.status === 'succeeded'
    ? recorded.status === 'succeeded' && recorded.result === end.result
    : recorded.status === 'failed' && recorded.abort.reason === end.reason
}

function addRecord(recorded: Prepared, record: StepRecord, now: number): FoldedRecorded {
  if (findRecord(recorded, record) !== undefined) return ignoreEvent(recorded)
  const records = [...recorded.records, record]
  const next = { ...withoutAttention(recorded), records, check: putOff(recorded, now), updatedAt: now }
  return { next, durability: 'strong' }
}

function putOff({ check, definition }: Prepared, now: number): OpProgress {
  // The clock of the store may have gone back since the last callback.
  return putOffUntil(check, Math.max(now, check.endedAt ?? now) + definition.retry.initialMs)
}

/** Its client is alive, so earlier failures do not count. A callback that is under way keeps the instant for the one after it. */
export function putOffUntil({ failingSince: _, ...check }: OpProgress, nextAt: number): OpProgress {
  const state = check.state === 'calling' ? 'calling' : 'waiting'
  return { ...check, state, failures: 0, waits: 0, nextAt }
}

/** A callback that was put off while it was under way is not made sooner because of how it went. */
function notBefore<T extends RecordedTransaction>(next: T, { nextAt = 0 }: OpProgress): T {
  const isSooner = next.check.state === 'waiting' && (next.check.nextAt ?? 0) < nextAt
  return isSooner ? { ...next, check: { ...next.check, nextAt } } : next
}

/** The answer of the earlier owner's call will not arrive here. */
function releaseCallback(check: OpProgress): OpProgress {
  const isPutOff = check.state === 'calling' && check.nextAt !== undefined
  return isPutOff ? { ...check, state: 'waiting' } : releaseOrphanedCall(check)
}

function end(recorded: Prepared, asked: RecordedEnd, now: number): RecordedTransaction {
  const ended = { ...withoutAttention(recorded), finishedAt: now, updatedAt: now }
  if (asked.status === 'succeeded') return { ...ended, status: 'succeeded', result: asked.result }
  const abort: AbortDecision = { cause: 'requested', reason: asked.reason, at: now, branches: [] }
  return { ...ended, status: 'failed', abort }
}

/** A callback that was answered has not ended the workflow as long as its client has not said so. */
function waitAfterAnswer(recorded: Prepared, event: Answered, now: number): FoldedRecorded {
  const progress = recordAnswer(recorded, event, now)
  if (progress === undefined) return ignoreEvent(recorded)
  const isUnknown = event.answer.result === 'unknown'
  const counted: Answered = isUnknown ? event : { ...event, answer: { ...event.answer, result: 'ongoing' } }
  const again = waitAgain(recorded, progress, counted, now)
  const waiting = { ...withOp(recorded, event.call, again), updatedAt: now }
  const next = notBefore(waiting, recorded.check)
  const reason = attentionReason(recorded, again, counted)
  return { next: reason === undefined ? next : { ...next, attention: reason }, durability: 'strong' }
}

function ignoreEvent(recorded: RecordedTransaction): FoldedRecorded {
  return { next: recorded, durability: 'none' }
}
