import type { OpView, TransactionView } from '@counterstep/protocol'
import { type Lane, listLanes } from './lanes.ts'

export type BarTone = 'done' | 'refused' | 'unknown' | 'ongoing' | 'calling' | 'open' | 'hand'

/** One stretch of a lane. */
export interface Bar {
  readonly from: number
  readonly to: number
  readonly tone: BarTone
  /** What stands beside or in the bar. */
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
    tone: toTone(outcome),
    label: count === 1 ? outcome : `${outcome} ×${count}`,
  }))
  const last = toLastBar(op, now, runs.length > 0)
  const bars = last === undefined ? past : [...past, last]
  return bars.map((bar, index) => ({ ...bar, isLast: index === bars.length - 1 }))
}

/** The attempt that is in no run: the one that ended the op, or the one in flight. */
function toLastBar(op: OpView, now: number, hasRuns: boolean): Omit<Bar, 'isLast'> | undefined {
  if (op.byHand !== undefined) return toHandBar(op.byHand.at)
  if (op.state === 'open') return { from: op.startedAt ?? now, to: now, tone: 'open', label: 'waits' }
  if (op.state === 'calling') {
    const from = hasRuns ? now : (op.endedAt ?? op.startedAt ?? now)
    return { from, to: now, tone: 'calling', label: 'called now' }
  }
  const to = op.endedAt ?? now
  if (op.state === 'succeeded' || op.state === 'failed' || !hasRuns) {
    const from = op.attempts > 1 && op.durationMs !== undefined ? to - op.durationMs : (op.startedAt ?? to)
    return { from, to, tone: toOwnTone(op), label: labelAnswer(op) }
  }
  return undefined
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
  if (state === 'succeeded') return ''
  return error ?? (statusCode === undefined ? '' : String(statusCode))
}

export function toTone(outcome: string): BarTone {
  if (outcome === '409') return 'refused'
  if (outcome === '425') return 'ongoing'
  return /^2\d\d$/.test(outcome) ? 'done' : 'unknown'
}
