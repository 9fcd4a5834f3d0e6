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
  mapOps,
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
      return { next: { ...mapOps(recorded, releaseOrphanedCall), epoch, sentUnknown }, durability: 'none' }
    }
    case 'sent':
      return { next: markSent(recorded, event.calls, now), durability: 'none' }
    case 'answered':
      return waitAfterAnswer(recorded, event, now)
    case 'held-back':
      return { next: holdBackCalls(recorded, event, now), durability: 'none' }
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
export function callbackAt({ check, createdAt, definition }: RecordedTransaction): number {
  // A retry has removed the instant, so the callback is due now.
  if (check.state === 'waiting') return check.nextAt ?? createdAt
  return check.attempts > 0 ? createdAt : createdAt + definition.retry.initialMs
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

/** The answer of a callback that is under way sets the next instant by itself. */
function putOff({ check, definition }: Prepared, now: number): OpProgress {
  if (check.state === 'calling') return check
  return { ...check, state: 'waiting', failures: 0, waits: 0, nextAt: now + definition.retry.initialMs }
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
  const next = { ...withOp(recorded, event.call, again), updatedAt: now }
  const reason = attentionReason(recorded, again, counted)
  return { next: reason === undefined ? next : { ...next, attention: reason }, durability: 'strong' }
}

function ignoreEvent(recorded: RecordedTransaction): FoldedRecorded {
  return { next: recorded, durability: 'none' }
}
