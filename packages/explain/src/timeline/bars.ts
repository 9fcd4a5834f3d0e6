import type { OpView, TransactionView } from '@counterstep/protocol'
import { type Lane, listLanes } from './lanes.ts'

/** The error of a wait that goes on without the signal. */
export const NO_SIGNAL = 'signal-timeout'

export type BarTone = 'done' | 'refused' | 'unknown' | 'ongoing' | 'calling' | 'open' | 'hand'

/** One stretch of a lane. */
export interface Bar {
  readonly from: number
  readonly to: number
  readonly tone: BarTone
  /** The words beside the bar, or in it. */
  readonly label: string
  /** It is the last one, from whose end the lane is labelled. */
  readonly isLast: boolean
}

export interface LaneBars {
  readonly lane: Lane
  readonly bars: readonly Bar[]
  /** The next attempt is due then. */
  readonly nextAt?: number
}

/** Turns what happened to each op into bars. `now` is where a call in flight ends for the time being. */
export function toLaneBars(view: TransactionView, now: number): readonly LaneBars[] {
  return listLanes(view).map((lane) => ({
    lane,
    bars: toBars(lane.op, now),
    ...(lane.op.nextAt === undefined || lane.op.state !== 'waiting' ? {} : { nextAt: lane.op.nextAt }),
  }))
}

function toBars(op: OpView, now: number): readonly Bar[] {
  if (op.startedAt === undefined) return op.byHand === undefined ? [] : [toHandBar(op.byHand.at)]
  const runs = op.runs ?? []
  const past = runs.map(({ outcome, count, firstAt, lastAt }, index) => ({
    from: index === 0 ? Math.min(op.startedAt ?? firstAt, firstAt) : firstAt,
    to: lastAt,
    // Whatever answers a plan call, it is a plan or it means nothing.
    tone: op.op === 'plan' ? ('unknown' as const) : toTone(outcome),
    label: count === 1 ? outcome : `${outcome} ×${count}`,
  }))
  const bars = [...past, ...toLastBars(op, now, runs.length > 0)]
  return bars.map((bar, index) => ({ ...bar, isLast: index === bars.length - 1 }))
}

type PlainBar = Omit<Bar, 'isLast'>

/** The attempts that are in no run: those before an older server kept any, the one that ended the op, the one in flight. */
function toLastBars(op: OpView, now: number, hasRuns: boolean): readonly PlainBar[] {
  if (op.byHand !== undefined) return [toHandBar(op.byHand.at)]
  const first = op.startedAt ?? now
  if (op.state === 'open') return [{ from: first, to: now, tone: 'open', label: 'waits' }]
  const end = op.endedAt ?? now
  if (op.state === 'calling') {
    const from = hasRuns || op.attempts > 1 ? end : first
    const before = hasRuns || op.attempts <= 1 ? [] : [toRetriedBar(op, first, end, op.attempts - 1)]
    return [...before, { from, to: now, tone: 'calling', label: 'called now' }]
  }
  const isEnded = op.state === 'succeeded' || op.state === 'failed'
  // A refusal that ended the op is the last run.
  if (hasRuns && op.state !== 'succeeded') return []
  if (op.attempts > 1 && !isEnded) return [toRetriedBar(op, first, end, op.attempts)]
  const from = op.attempts > 1 ? end - (op.durationMs ?? 0) : first
  const before =
    op.attempts > 1 && !hasRuns ? [{ from: first, to: from, tone: 'unknown' as const, label: '' }] : []
  return [...before, { from, to: end, tone: toOwnTone(op), label: labelAnswer(op) }]
}

function toRetriedBar(op: OpView, from: number, to: number, count: number): PlainBar {
  const label = labelAnswer(op)
  return { from, to, tone: toOwnTone(op), label: count === 1 ? label : `${label} ×${count}` }
}

function toHandBar(at: number): Bar {
  return { from: at, to: at, tone: 'hand', label: 'by hand', isLast: true }
}

function toOwnTone({ state, result }: OpView): BarTone {
  if (state === 'succeeded') return 'done'
  if (state === 'failed' || result === 'failure') return 'refused'
  return result === 'ongoing' ? 'ongoing' : 'unknown'
}

function labelAnswer({ state, statusCode, error }: OpView): string {
  if (state === 'succeeded') return error === NO_SIGNAL ? 'no signal came' : ''
  return error ?? (statusCode === undefined ? '' : String(statusCode))
}

export function toTone(outcome: string): BarTone {
  if (outcome === '409') return 'refused'
  if (outcome === '425') return 'ongoing'
  return /^2\d\d$/.test(outcome) ? 'done' : 'unknown'
}
