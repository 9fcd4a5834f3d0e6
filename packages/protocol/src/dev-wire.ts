/** The shapes of `counterstep dev`, in which a developer breaks calls on purpose. No other server has its routes. */
import type { Op } from './words.ts'

/** Each says what becomes of a call that is broken. */
export const BREAK_WAYS = [
  'answer-409',
  'answer-500',
  'time-out',
  'late',
  'take-effect-and-lose-the-answer',
] as const
export type BreakWay = (typeof BREAK_WAYS)[number]

/** So many breaks may be in force at once. */
export const BREAKS_MAX = 50
export const BREAK_CALLS_MAX = 1_000
export const BREAK_LATE_MS_MAX = 600_000

/** Breaks the next calls that fit. Exactly one of `service`, `url`, `urlPrefix` and `branchId` says which. */
export interface BreakRequest {
  /** The name of a service, or the host of a URL with its port. */
  readonly service?: string
  /** The URL of a branch, as the submit has it. */
  readonly url?: string
  readonly urlPrefix?: string
  readonly branchId?: string
  /** Absent: calls of every op fit. */
  readonly op?: Op
  /** So many calls are broken. 0 takes back the breaks of the same calls. */
  readonly next: number
  readonly how: BreakWay
  /** The answer of a call that is late comes this much later. The default is 3,000. */
  readonly lateMs?: number
}

/** A break in force. `next` says how many calls are still to be broken. */
export interface BreakView extends BreakRequest {
  readonly id: string
}

export interface DevView {
  readonly breaks: readonly BreakView[]
}
