/**
 * The rules of the two-phase message. It is prepared while its sender's own database transaction runs, and delivered if
 * and only if that transaction has committed. The sender says so (submit), or is asked (the query-back, once `afterMs`
 * have passed). Once it is submitted, its branches are called until each has succeeded, because none can be undone.
 */

import {
  type AbortDecision,
  IDLE,
  isFinal,
  type MessageTransaction,
  type OpProgress,
} from '../transaction.ts'
import type { Durability, TransactionEffect, TransactionEvent } from './events.ts'
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

export interface FoldedMessage {
  readonly next: MessageTransaction
  readonly durability: Durability
}

type Unfinished = Exclude<MessageTransaction, { readonly finishedAt: number }>
type Prepared = Extract<MessageTransaction, { readonly status: 'prepared' }>
type Submitted = Extract<MessageTransaction, { readonly status: 'submitted' }>

export function foldMessage(
  message: MessageTransaction,
  event: TransactionEvent,
  now: number,
): FoldedMessage {
  if (isFinal(message)) return ignoreEvent(message)
  switch (event.type) {
    case 'claimed': {
      const { epoch, sentUnknown } = event
      return { next: { ...mapOps(message, releaseOrphanedCall), epoch, sentUnknown }, durability: 'none' }
    }
    case 'sent':
      return { next: markSent(message, event.calls, now), durability: 'none' }
    case 'answered':
      return message.status === 'prepared'
        ? applyCheckAnswer(message, event, now)
        : applyDeliveryAnswer(message, event, now)
    case 'held-back':
      return { next: holdBackCalls(message, event, now), durability: 'none' }
    case 'submit-asked':
      return message.status === 'prepared' ? submit(message, now) : ignoreEvent(message)
    case 'abort-asked': {
      const { reason } = event
      if (message.status !== 'prepared') return ignoreEvent(message)
      return drop(message, { cause: 'requested', ...(reason === undefined ? {} : { reason }) }, now)
    }
    case 'retry-asked':
      return { next: retryNow(message, now), durability: 'strong' }
    case 'stop-asked':
      return {
        next: { ...withoutAttention(message), status: 'stopped', finishedAt: now, updatedAt: now },
        durability: 'strong',
      }
    case 'time':
      return message.status === 'prepared' ? ignoreEvent(message) : finishIfDelivered(message, 'none', now)
    case 'register-asked':
    case 'signal-asked':
    case 'record-asked':
    case 'end-asked':
    case 'pause-asked':
    case 'resume-asked':
    case 'retry-op-asked':
    case 'skip-asked':
    case 'edit-asked':
      return ignoreEvent(message)
  }
}

export function messageEffects(message: MessageTransaction, now: number): readonly TransactionEffect[] {
  if (isFinal(message)) return []
  return message.status === 'prepared' ? checkEffects(message, now) : deliveryEffects(message, now)
}

/** Returns when the sender is asked. Undefined: the message has no query-back, and is submitted from the start. */
export function checkAt({ createdAt, definition }: MessageTransaction): number | undefined {
  return definition.check === undefined ? undefined : createdAt + definition.check.afterMs
}

function checkEffects(message: Prepared, now: number): readonly TransactionEffect[] {
  const { state, nextAt = checkAt(message) ?? now } = message.check
  if (state === 'calling') return []
  // A retry has removed the instant, so the check is due now.
  const at = state === 'waiting' && message.check.nextAt === undefined ? now : nextAt
  return at > now ? [{ type: 'wake-at', at }] : [{ type: 'call', call: { branch: CHECK, op: 'msg' } }]
}

function deliveryEffects(message: Submitted, now: number): readonly TransactionEffect[] {
  const startAt = findStart(message)
  if (startAt !== undefined && now < startAt) return [{ type: 'wake-at', at: startAt }]
  const effects: TransactionEffect[] = []
  let wakeAt: number | undefined
  for (const [branch, { action }] of message.branches.entries()) {
    if (action.state === 'succeeded') continue
    if (isDue(action, now)) effects.push({ type: 'call', call: { branch, op: 'action' } })
    else if (action.state === 'waiting')
      wakeAt = Math.min(wakeAt ?? action.nextAt ?? now, action.nextAt ?? now)
    if (!message.definition.concurrent) break
  }
  if (wakeAt !== undefined) effects.push({ type: 'wake-at', at: wakeAt })
  return effects
}

/**
 * Finds when the first call may be made. Returns undefined if the message has no delay, or if it has begun: then it goes
 * on, even if the clock was ahead when the message was accepted and has been set back since.
 */
function findStart({ createdAt, definition: { delayMs }, branches }: Submitted): number | undefined {
  if (delayMs === undefined || branches.some(({ action }) => action.attempts > 0)) return undefined
  return createdAt + delayMs
}

function isDue({ state, nextAt = 0 }: OpProgress, now: number): boolean {
  return state === 'idle' || (state === 'waiting' && nextAt <= now)
}

/**
 * Applies the query-back's answer: the sender's transaction has committed, it never will, or the sender cannot say yet.
 */
function applyCheckAnswer(message: Prepared, event: Answered, now: number): FoldedMessage {
  const progress = recordAnswer(message, event, now)
  if (progress === undefined) return ignoreEvent(message)
  switch (event.answer.result) {
    case 'success':
      return submit({ ...message, check: { ...progress, state: 'succeeded' } }, now)
    case 'failure':
      return drop({ ...message, check: { ...progress, state: 'failed' } }, { cause: 'check-failed' }, now)
    case 'ongoing':
    case 'unknown':
      return waitAfterAnswer(message, progress, event, now)
  }
}

function applyDeliveryAnswer(message: Submitted, event: Answered, now: number): FoldedMessage {
  const progress = recordAnswer(message, event, now)
  if (progress === undefined) return ignoreEvent(message)
  if (event.answer.result !== 'success') return waitAfterAnswer(message, progress, event, now)
  const next = { ...withOp(message, event.call, { ...progress, state: 'succeeded' }), updatedAt: now }
  return finishIfDelivered(next, message.definition.checkpointMs === 0 ? 'strong' : 'lazy', now)
}

function waitAfterAnswer<M extends Unfinished>(
  message: M,
  progress: OpProgress,
  event: Answered,
  now: number,
): FoldedMessage {
  const again = waitAgain(message, progress, event, now)
  const next = { ...withOp(message, event.call, again), updatedAt: now }
  const reason = attentionReason(message, again, event)
  return { next: reason === undefined ? next : { ...next, attention: reason }, durability: 'strong' }
}

/** The progress of a query-back without an answer is reset, so that an answer which still comes is ignored. */
function submit(message: Prepared, now: number): FoldedMessage {
  const check = message.check.state === 'succeeded' ? message.check : IDLE
  const next: Submitted = { ...withoutAttention(message), check, status: 'submitted', updatedAt: now }
  return finishIfDelivered(next, 'strong', now)
}

function drop(
  message: Prepared,
  request: Pick<AbortDecision, 'cause' | 'reason'>,
  now: number,
): FoldedMessage {
  const abort = { ...request, at: now, branches: [] }
  return {
    next: { ...withoutAttention(message), status: 'failed', abort, finishedAt: now, updatedAt: now },
    durability: 'strong',
  }
}

function finishIfDelivered(message: Submitted, otherwise: Durability, now: number): FoldedMessage {
  if (!message.branches.every(({ action }) => action.state === 'succeeded'))
    return { next: message, durability: otherwise }
  return {
    next: { ...withoutAttention(message), status: 'succeeded', finishedAt: now, updatedAt: now },
    durability: 'strong',
  }
}

function ignoreEvent(message: MessageTransaction): FoldedMessage {
  return { next: message, durability: 'none' }
}
