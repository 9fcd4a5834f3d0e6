/**
 * All nodes remember of alerts what stands here, in one document. Only the node whose write of it is taken tells what it decided, so that
 * an alert is sent once though every node sees its cause. An alert stands in the document before it is submitted: after a
 * crash in between any node submits it, with the same gid and the same content.
 */
import { ALERT_RULES, type AlertFacts, type AlertRule } from '@counterstep/protocol'
import { DOCUMENT_TEXT_BYTES_MAX } from '../ports/documents.ts'
import { utf8Length } from '../submission/utf8-length.ts'

const FORMAT = 1
/** Beyond it, what has the greatest count is watched. */
export const ALERT_CASES_MAX = 100
/** Further alerts wait for the next look. */
export const ALERT_PENDING_MAX = 10
/** A longer text would not be worth a message. A problem is at most 255 characters. */
const SUBJECT_LENGTH_MAX = 255

/** One thing that is watched, from when it is first seen until it is over. */
export interface AlertCase {
  readonly rule: AlertRule
  readonly subject: string
  /** `waiting`: it has not been told. `open`: it has. `over`: it has ended, and was told within the last 15 minutes. */
  readonly stage: 'waiting' | 'open' | 'over'
  readonly firstAt: number
  readonly since: number
  /** When it was told last. Absent: never. */
  readonly toldAt?: number
  readonly toldCount: number
  /** The targets that were told of it. Absent: all whose rules name its rule. */
  readonly toldTo?: readonly string[]
  /** It has not been seen since then. */
  readonly quietSince?: number
}

/** An alert that is to be submitted. */
export interface PendingAlert extends AlertFacts {
  readonly gid: string
  /** The names of the targets that get it. */
  readonly targets: readonly string[]
  readonly decidedAt: number
}

/** How much a target was told in an hour that began with its first message. */
export interface TargetHour {
  readonly target: string
  readonly startedAt: number
  readonly sent: number
  readonly heldBack: number
}

export interface AlertState {
  readonly cases: readonly AlertCase[]
  readonly pending: readonly PendingAlert[]
  readonly hours: readonly TargetHour[]
}

export const NO_ALERTS: AlertState = { cases: [], pending: [], hours: [] }

/** Writes the document. If it would be too long, it forgets the cases of the smallest counts first. */
export function writeAlertState(state: AlertState): string {
  const byCount = [...state.cases].sort((one, other) => other.toldCount - one.toldCount)
  for (let kept = byCount.length; ; kept = Math.floor(kept / 2)) {
    const forgotten = new Set(byCount.slice(kept))
    const cases = state.cases.filter((each) => !forgotten.has(each))
    const text = JSON.stringify({ format: FORMAT, ...state, cases })
    if (kept === 0 || utf8Length(text, DOCUMENT_TEXT_BYTES_MAX) <= DOCUMENT_TEXT_BYTES_MAX) return text
  }
}

/** Reads the document. One of another format, which newer code has written, is undefined: it must be left alone. */
export function readAlertState(text: string): AlertState | undefined {
  const value = JSON.parse(text) as AlertState & { readonly format?: unknown }
  if (value.format !== FORMAT) return undefined
  const { cases, pending, hours } = value
  return { cases: cases.filter(({ rule }) => ALERT_RULES.includes(rule)), pending, hours }
}

export function cutSubject(text: string): string {
  return text.slice(0, SUBJECT_LENGTH_MAX)
}
