/** Shows how the calls of each service went. All of it is arithmetic over the sums of the nodes. */
import type {
  LatencyView,
  MinuteCounts,
  Op,
  ProblemView,
  ServiceFigure,
  ServiceOpView,
  ServiceView,
} from '@counterstep/protocol'
import { addCounts, addMinutes, addSums } from './add-sums.ts'
import { readPercentile, toLatency } from './histogram.ts'
import { MINUTE_MS } from './minute-ring.ts'
import { COUNTS } from './node-statistics.ts'
import { countAll, type NodeSums, type PartSums } from './node-sums.ts'
import { FIGURES_MAX } from './view-names.ts'

/** A service looks down only after this many calls in a minute. */
const DOWN_CALLS_MIN = 20
const DOWN_SHARE = 0.9
/** So many places of the worst ones are for those without a definite answer, so that a slow one is among them too. */
const UNANSWERED_MAX = 3
/** Where the result `unknown` stands among the counts. */
const UNKNOWN_COLUMN = 3

/** The figures of nodes that are gone are left out where they would say what happens now. */
export interface SeenNode {
  readonly sums: NodeSums
  readonly isGone: boolean
}

export function viewServices(
  nodes: readonly SeenNode[],
  problems: readonly Pick<ProblemView, 'problem' | 'waiting' | 'attention'>[],
  minute: number,
): readonly ServiceView[] {
  const up = nodes.filter(({ isGone }) => !isGone).map(({ sums }) => sums)
  const byService = groupByKey(addSums(nodes.flatMap(({ sums }) => sums.services)))
  const waiting = countWaiting(problems)
  for (const service of waiting.keys()) if (!byService.has(service)) byService.set(service, [])
  const views = Array.from(byService, ([service, parts]) => {
    const now = sumNow(service, up)
    const { outcomes, latency, callsPerSecond } = now
    return {
      service,
      ops: parts.map(viewOp).sort((left, right) => right.latency.count - left.latency.count),
      ...{ callsPerSecond, outcomes, latency },
      ...sumLoads(service, up),
      ...(waiting.get(service) ?? { waiting: 0, attention: 0 }),
      looksDown: looksDown(parts, minute),
    }
  })
  return views.sort(compareServices)
}

/** Those that look down come first, and then those that most wait for, and that are called most. */
function compareServices(left: ServiceView, right: ServiceView): number {
  return (
    Number(right.looksDown) - Number(left.looksDown) ||
    right.waiting - left.waiting ||
    right.callsPerSecond - left.callsPerSecond
  )
}

/** Those without a definite answer come first, and the slowest ones fill the other places. */
export function findWorstServices(nodes: readonly SeenNode[]): readonly ServiceFigure[] {
  const services = groupByKey(addSums(nodes.flatMap(({ sums }) => sums.services)))
  const figures = Array.from(services, toFigure)
  const unanswered = figures
    .filter(({ unknown }) => unknown > 0)
    .sort((left, right) => right.unknown - left.unknown)
    .slice(0, UNANSWERED_MAX)
  const others = figures.filter((figure) => !unanswered.includes(figure))
  const slowest = others.sort((left, right) => right.p95Ms - left.p95Ms)
  return [...unanswered, ...slowest].slice(0, FIGURES_MAX)
}

function toFigure([service, parts]: readonly [string, readonly PartSums[]]): ServiceFigure {
  const hour = addCounts(parts.map((each) => each.hour))
  return {
    service,
    calls: countAll(hour),
    unknown: hour[UNKNOWN_COLUMN] ?? 0,
    p95Ms: readPercentile(hour.slice(COUNTS), 0.95),
  }
}

function groupByKey(all: readonly PartSums[]): Map<string, PartSums[]> {
  const groups = new Map<string, PartSums[]>()
  for (const sums of all) {
    const group = groups.get(sums.key) ?? []
    group.push(sums)
    groups.set(sums.key, group)
  }
  return groups
}

function viewOp({ part, minutes, hour }: PartSums): ServiceOpView {
  return { op: part as Op, minutes: minutes.map(toMinuteCounts), latency: toLatency(hour.slice(COUNTS)) }
}

function toMinuteCounts([minute, counts]: PartSums['minutes'][number]): MinuteCounts {
  return { at: minute * MINUTE_MS, ...toOutcomes(counts) }
}

function toOutcomes([success = 0, failure = 0, ongoing = 0, unknown = 0]: readonly number[]): Omit<
  MinuteCounts,
  'at'
> {
  return { success, failure, ongoing, unknown }
}

/** Adds up what all nodes that are up have counted of a service in the last 5 minutes, or since they began. */
function sumNow(
  service: string,
  up: readonly NodeSums[],
): { callsPerSecond: number; outcomes: Omit<MinuteCounts, 'at'>; latency: LatencyView } {
  const found: (readonly number[])[] = []
  let callsPerSecond = 0
  for (const { services, shortSeconds } of up) {
    for (const { key, short } of services) {
      if (key !== service) continue
      found.push(short)
      callsPerSecond += countAll(short) / shortSeconds
    }
  }
  const sum = addCounts(found)
  const rounded = Math.round(callsPerSecond * 100) / 100
  return { callsPerSecond: rounded, outcomes: toOutcomes(sum), latency: toLatency(sum.slice(COUNTS)) }
}

function sumLoads(
  service: string,
  up: readonly NodeSums[],
): { readonly connections: number; readonly queued: number } {
  const own = up.flatMap(({ loads }) => loads.filter((load) => load.service === service))
  return {
    connections: own.reduce((sum, { inFlight }) => sum + inFlight, 0),
    queued: own.reduce((sum, { queued }) => sum + queued, 0),
  }
}

/** A minute that has just begun has too few calls to go by, and then the one before counts. */
function looksDown(parts: readonly PartSums[], minute: number): boolean {
  const recent = parts.map(({ minutes }) => minutes.filter(([at]) => at >= minute - 1))
  const minutes = new Map(addMinutes(recent))
  const current = minutes.get(minute) ?? []
  return isDown(countAll(current) >= DOWN_CALLS_MIN ? current : (minutes.get(minute - 1) ?? []))
}

function isDown(counts: readonly number[]): boolean {
  const calls = countAll(counts)
  return calls >= DOWN_CALLS_MIN && (counts[UNKNOWN_COLUMN] ?? 0) >= calls * DOWN_SHARE
}

/** Adds up the transactions that wait for each service. A problem begins with the name of the service. */
function countWaiting(
  problems: readonly Pick<ProblemView, 'problem' | 'waiting' | 'attention'>[],
): ReadonlyMap<string, { waiting: number; attention: number }> {
  const counts = new Map<string, { waiting: number; attention: number }>()
  for (const { problem, waiting, attention } of problems) {
    const [service = '', op] = problem.split(' ')
    // Problems without a service begin with a dash, and the last group has one word.
    if (service === '–' || op === undefined) continue
    const before = counts.get(service) ?? { waiting: 0, attention: 0 }
    counts.set(service, { waiting: before.waiting + waiting, attention: before.attention + attention })
  }
  return counts
}
