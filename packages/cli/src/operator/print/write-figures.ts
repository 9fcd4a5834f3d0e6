import { describeProblem, formatDuration, LOOKS_DOWN } from '@counterstep/explain'
import type { NamesView, OverviewView, ProblemsView, ServicesView, ServiceView } from '@counterstep/protocol'
import { cleanLine } from './clean-text.ts'
import { formatBoth, formatDistance, formatInstant } from './instants.ts'
import { writeTable } from './write-table.ts'

type Problem = ProblemsView['items'][number]

export function writeProblems({ asOf, items }: ProblemsView, now: number): readonly string[] {
  if (items.length === 0) return ['Nothing waits for another attempt.']
  const columns = [
    { title: 'PROBLEM', read: ({ problem }: Problem) => problem, lengthMax: 64 },
    { title: 'WAITING', read: ({ waiting }: Problem) => waiting, isRight: true },
    { title: 'ATTENTION', read: ({ attention }: Problem) => attention, isRight: true },
    { title: 'OLDEST', read: ({ oldestAt }: Problem) => formatDistance(oldestAt, now), isRight: true },
    { title: 'DO', read: ({ problem }: Problem) => describeProblem(problem).advice, lengthMax: 120 },
  ] as const
  return [...writeTable(columns, items), `Counted ${formatBoth(asOf, now)}, on all nodes.`]
}

export function writeServices({ since, nodes, items }: ServicesView): readonly string[] {
  if (items.length === 0) return ['No service was called.']
  const columns = [
    { title: 'SERVICE', read: ({ service }: ServiceView) => service, lengthMax: 64 },
    { title: 'CALLS/S', read: ({ callsPerSecond }: ServiceView) => callsPerSecond.toFixed(1), isRight: true },
    { title: '✓', read: (row: ServiceView) => toShare(row, 'success'), isRight: true },
    { title: '409', read: (row: ServiceView) => toShare(row, 'failure'), isRight: true },
    { title: '425', read: (row: ServiceView) => toShare(row, 'ongoing'), isRight: true },
    { title: 'UNKNOWN', read: (row: ServiceView) => toShare(row, 'unknown'), isRight: true },
    { title: 'P50', read: ({ latency }: ServiceView) => formatLatency(latency, 'p50Ms'), isRight: true },
    { title: 'P99', read: ({ latency }: ServiceView) => formatLatency(latency, 'p99Ms'), isRight: true },
    { title: 'CONNECTIONS', read: ({ connections }: ServiceView) => connections, isRight: true },
    { title: 'QUEUED', read: ({ queued }: ServiceView) => queued, isRight: true },
    { title: 'WAITING', read: ({ waiting }: ServiceView) => waiting, isRight: true },
    { title: 'ATTENTION', read: ({ attention }: ServiceView) => attention, isRight: true },
    { title: '', read: ({ looksDown }: ServiceView) => (looksDown ? `⚠ ${LOOKS_DOWN}` : '') },
  ] as const
  return [
    ...writeTable(columns, items),
    `Of ${nodes} node(s), the last 5 minutes, counted since ${formatInstant(since)}.`,
  ]
}

type Name = NamesView['items'][number]

export function writeNames({ since, nodes, items }: NamesView): readonly string[] {
  if (items.length === 0) return ['No transaction was accepted.']
  const sum = (key: 'accepted' | 'succeeded' | 'failed' | 'stopped') => (row: Name) =>
    row.minutes.reduce((total, minute) => total + minute[key], 0)
  const columns = [
    { title: 'NAME', read: ({ name }: Name) => name, lengthMax: 64 },
    { title: 'ACCEPTED', read: sum('accepted'), isRight: true },
    { title: 'SUCCEEDED', read: sum('succeeded'), isRight: true },
    { title: 'FAILED', read: sum('failed'), isRight: true },
    { title: 'STOPPED', read: sum('stopped'), isRight: true },
    { title: 'P50', read: ({ latency }: Name) => formatLatency(latency, 'p50Ms'), isRight: true },
    { title: 'P95', read: ({ latency }: Name) => formatLatency(latency, 'p95Ms'), isRight: true },
    { title: 'P99', read: ({ latency }: Name) => formatLatency(latency, 'p99Ms'), isRight: true },
  ] as const
  return [
    ...writeTable(columns, items),
    `Of ${nodes} node(s), the last hour, counted since ${formatInstant(since)}.`,
  ]
}

function toShare({ outcomes }: ServiceView, outcome: keyof ServiceView['outcomes']): string {
  const all = outcomes.success + outcomes.failure + outcomes.ongoing + outcomes.unknown
  return all === 0 ? '' : `${((100 * outcomes[outcome]) / all).toFixed(1)} %`
}

function formatLatency(latency: ServiceView['latency'], at: 'p50Ms' | 'p95Ms' | 'p99Ms'): string {
  return latency.count === 0 ? '' : formatDuration(latency[at])
}

/** So many problems are shown beside the figures; `problems` lists all of them. */
const TOP_PROBLEMS = 3

export function writeOverview(
  view: OverviewView,
  problems: readonly Problem[],
  now: number,
): readonly string[] {
  const { store, unfinished, attention, paused, byHand, oldestDueAt, oldestUnfinishedAt, nodes, latency } =
    view
  const retrying = problems.reduce((sum, { waiting }) => sum + waiting, 0)
  const { prepared, submitted, aborting } = unfinished
  const ended = { accepted: 0, succeeded: 0, failed: 0, stopped: 0 }
  for (const minute of view.minutes)
    for (const key of ['accepted', 'succeeded', 'failed', 'stopped'] as const) ended[key] += minute[key]
  const away = store.state === 'away' ? `  ⚠ away, figures of ${formatBoth(store.asOf, now)}` : ''
  return [
    `store       ${cleanLine(store.name)}, class ${cleanLine(store.durabilityClass)}, failover ${cleanLine(store.failover)}${away}`,
    `consistent? ${describeConsistency(attention, retrying)}, ${paused} paused, ${byHand} by hand`,
    ...problems.slice(0, TOP_PROBLEMS).map(writeTopProblem),
    ...(problems.length > TOP_PROBLEMS
      ? [`            and ${problems.length - TOP_PROBLEMS} more: counterstep problems`]
      : []),
    `unfinished  ${prepared + submitted + aborting}: ◷ ${prepared} prepared, ▶ ${submitted} submitted, ◀ ${aborting} aborting`,
    ...(oldestUnfinishedAt === undefined
      ? []
      : [`oldest      accepted ${formatBoth(oldestUnfinishedAt, now)}`]),
    ...(oldestDueAt === undefined ? [] : [`oldest due  ${formatBoth(oldestDueAt, now)}`]),
    `outcome     accepted ${ended.accepted}, ✓ ${ended.succeeded}, ↺ ${ended.failed}, ■ ${ended.stopped}, since ${formatInstant(view.since)}`,
    ...(latency.count === 0
      ? []
      : [
          `end to end  p50 ${formatDuration(latency.p50Ms)}, p95 ${formatDuration(latency.p95Ms)}, p99 ${formatDuration(latency.p99Ms)}`,
        ]),
    '',
    ...writeNodes(nodes, now),
  ]
}

function describeConsistency(attention: number, retrying: number): string {
  if (retrying === 0) return attention === 0 ? '✓ nothing needs a person' : `⚠ ${attention} need a person`
  return `${attention === 0 ? 'nothing needs a person yet' : `⚠ ${attention} need a person`}, ↻ ${retrying} retrying`
}

function writeTopProblem({ problem, waiting }: Problem): string {
  return `            ↻ ${waiting} of ${cleanLine(problem)}`
}

type Node = OverviewView['nodes'][number]

function writeNodes(nodes: readonly Node[], now: number): readonly string[] {
  const columns = [
    { title: 'NODE', read: ({ id }: Node) => id, lengthMax: 64 },
    {
      title: 'STATE',
      read: ({ state, seenAt }: Node) =>
        state === 'up' ? '✓ up' : `⚠ ${state}, seen ${formatDistance(seenAt, now)}`,
    },
    { title: 'STARTED', read: ({ startedAt }: Node) => formatDistance(startedAt, now), isRight: true },
    {
      title: 'IN FLIGHT',
      read: ({ inFlight, inFlightMax }: Node) => `${inFlight} of ${inFlightMax}`,
      isRight: true,
    },
    { title: 'LOOP P99', read: ({ loopP99Ms }: Node) => formatDuration(loopP99Ms), isRight: true },
    { title: 'VERSION', read: ({ version }: Node) => version },
  ] as const
  return writeTable(columns, nodes)
}
