/** The sums of one node, as its own overview shows them and as it tells them to the other nodes. */
import type { OriginLoad } from '@counterstep/core'
import type { Op } from '@counterstep/protocol'
import { MINUTE_MS, MINUTES, type MinuteRing } from './minute-ring.ts'
import { COUNTS, type NodeStatistics, type WHOLE } from './node-statistics.ts'

/** The short window, for what happens now. */
const SHORT_MINUTES = 5

/** The counts of one key and part: of a service and an op, or of a name. */
export interface PartSums {
  readonly key: string
  readonly part: Op | typeof WHOLE
  /** The minutes in which something was counted, the oldest first: the minute since the epoch, and its four counts. */
  readonly minutes: readonly (readonly [minute: number, counts: readonly number[]])[]
  /** The counts of the last 5 minutes, and then the buckets. */
  readonly short: readonly number[]
  /** The same of the last hour. */
  readonly hour: readonly number[]
}

export interface ServiceLoad {
  readonly service: string
  readonly inFlight: number
  readonly queued: number
}

export interface NodeSums {
  readonly id: string
  readonly version: string
  readonly startedAt: number
  readonly inFlight: number
  readonly inFlightMax: number
  readonly loopP99Ms: number
  /** How long the short window is for this node, which may have begun to count later. */
  readonly shortSeconds: number
  readonly services: readonly PartSums[]
  readonly names: readonly PartSums[]
  /** The submits refused in the last hour, by code. */
  readonly refused: readonly (readonly [code: string, count: number])[]
  readonly loads: readonly ServiceLoad[]
}

/** A node knows this of itself beside its counts. */
export type NodeState = Omit<NodeSums, 'services' | 'names' | 'refused' | 'shortSeconds' | 'startedAt'>

export function collectSums(statistics: NodeStatistics, state: NodeState): NodeSums {
  const { minute, now, since } = statistics
  const shortSince = Math.max(since, (minute - SHORT_MINUTES + 1) * MINUTE_MS)
  const services: PartSums[] = []
  for (const key of statistics.services.keys)
    for (const [part, ring] of statistics.services.parts(key)) add(services, sumRing(key, part, ring, minute))
  const names: PartSums[] = []
  for (const key of statistics.names.keys)
    for (const [part, ring] of statistics.names.parts(key)) add(names, sumRing(key, part, ring, minute))
  return {
    ...state,
    startedAt: since,
    shortSeconds: Math.max(1, (now - shortSince) / 1_000),
    services,
    names,
    refused: Array.from(statistics.refusals, ([code, ring]) => [code, ring.sum(minute, MINUTES)[0] ?? 0]),
  }
}

/** Leaves out what has counted nothing for an hour. */
function add(to: PartSums[], sums: PartSums): void {
  if (sums.minutes.length > 0) to.push(sums)
}

function sumRing(key: string, part: PartSums['part'], ring: MinuteRing, minute: number): PartSums {
  const minutes = ring.list(minute, COUNTS)
  return { key, part, minutes, short: ring.sum(minute, SHORT_MINUTES), hour: ring.sum(minute, MINUTES) }
}

export function countAll(counts: readonly number[]): number {
  let total = 0
  for (let at = 0; at < COUNTS; at++) total += counts[at] ?? 0
  return total
}

/** Joins these services to the origins that the branch caller has connections to. */
export function findLoads(
  origins: ReadonlyMap<string, string>,
  loads: readonly OriginLoad[],
): readonly ServiceLoad[] {
  const byOrigin = new Map(loads.map((load) => [load.origin, load]))
  const found: ServiceLoad[] = []
  for (const [service, origin] of origins) {
    const load = byOrigin.get(origin)
    if (load !== undefined) found.push({ service, inFlight: load.inFlight, queued: load.queued })
  }
  return found
}
