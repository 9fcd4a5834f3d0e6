/** Shows what transactions of each name came to. All of it is arithmetic over the sums of the nodes. */
import type { EndedMinute, LatencyView, NameFigure, NameView } from '@counterstep/protocol'
import { addCounts, addMinutes, addSums } from './add-sums.ts'
import { readPercentile, toLatency } from './histogram.ts'
import { MINUTE_MS } from './minute-ring.ts'
import { COUNTS } from './node-statistics.ts'
import type { PartSums } from './node-sums.ts'

/** The overview has this many figures of each sort. */
export const FIGURES_MAX = 5

export function viewNames(all: readonly PartSums[]): readonly NameView[] {
  return addSums(all)
    .map((sums) => ({ view: viewName(sums), accepted: sums.hour[0] ?? 0 }))
    .sort((left, right) => right.accepted - left.accepted)
    .map(({ view }) => view)
}

function viewName({ key, minutes, hour }: PartSums): NameView {
  return { name: key, minutes: minutes.map(toEndedMinute), latency: toLatency(hour.slice(COUNTS)) }
}

function toEndedMinute([minute, counts]: PartSums['minutes'][number]): EndedMinute {
  const [accepted = 0, succeeded = 0, failed = 0, stopped = 0] = counts
  return { at: minute * MINUTE_MS, accepted, succeeded, failed, stopped }
}

/** Shows all names together. */
export function viewAllNames(all: readonly PartSums[]): {
  readonly minutes: readonly EndedMinute[]
  readonly latency: LatencyView
} {
  const hour = addCounts(all.map((sums) => sums.hour))
  const minutes = addMinutes(all.map((sums) => sums.minutes))
  return { minutes: minutes.map(toEndedMinute), latency: toLatency(hour.slice(COUNTS)) }
}

export function findNameFigures(all: readonly PartSums[]): {
  readonly slowestNames: readonly NameFigure[]
  readonly mostFailedNames: readonly NameFigure[]
} {
  const figures = addSums(all)
    .map(toFigure)
    .filter(({ ended }) => ended > 0)
  const slowest = [...figures].sort((left, right) => right.p95Ms - left.p95Ms)
  const mostFailed = figures
    .filter(({ failed }) => failed > 0)
    .sort((left, right) => right.failed - left.failed)
  return {
    slowestNames: slowest.slice(0, FIGURES_MAX),
    mostFailedNames: mostFailed.slice(0, FIGURES_MAX),
  }
}

/** The transactions of one name that have ended in the short window. */
export interface EndedOfName {
  readonly name: string
  readonly ended: number
  readonly failed: number
}

export function countEndedNames(all: readonly PartSums[]): readonly EndedOfName[] {
  return addSums(all).map(({ key, short }) => {
    const [, succeeded = 0, failed = 0, stopped = 0] = short
    return { name: key, ended: succeeded + failed + stopped, failed }
  })
}

function toFigure({ key, hour }: PartSums): NameFigure {
  const [, succeeded = 0, failed = 0, stopped = 0] = hour
  return {
    name: key,
    ended: succeeded + failed + stopped,
    failed,
    p95Ms: readPercentile(hour.slice(COUNTS), 0.95),
  }
}
