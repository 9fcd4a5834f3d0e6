import type { Op } from '@counterstep/protocol'
import { BUCKETS, findBucket } from '../../src/statistics/histogram.ts'
import { COUNTS, type WHOLE } from '../../src/statistics/node-statistics.ts'
import type { NodeSums, PartSums } from '../../src/statistics/node-sums.ts'

export const MINUTE = 29_000_000

export interface PartScript {
  readonly key: string
  readonly part?: Op | typeof WHOLE
  readonly counts: readonly [number, number, number, number]
  readonly durationMs?: number
  readonly minute?: number
}

/** Makes the sums of one minute, which are those of the short window and of the hour, too. */
export function buildPart({
  key,
  part = 'action',
  counts,
  durationMs = 8,
  minute = MINUTE,
}: PartScript): PartSums {
  const buckets = Array<number>(BUCKETS).fill(0)
  buckets[findBucket(durationMs)] = counts.reduce((sum, each) => sum + each, 0)
  const row = [...counts, ...buckets]
  return { key, part, minutes: [[minute, row.slice(0, COUNTS)]], short: row, hour: row }
}

export function buildSums(parts: Partial<NodeSums> = {}): NodeSums {
  return {
    id: 'api-1',
    version: '0.1.0',
    startedAt: 1_000,
    inFlight: 3,
    inFlightMax: 4_096,
    loopP99Ms: 4,
    shortSeconds: 300,
    services: [],
    names: [],
    refused: [],
    loads: [],
    ...parts,
  }
}
