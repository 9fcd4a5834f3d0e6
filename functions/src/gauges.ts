import type { StoreStats } from '@counterstep/core'

/** The sweeper publishes these gauges, and the alarms of the template use their names. */
export const GAUGES = {
  OldestDueAgeMs: 'Milliseconds',
  UnfinishedPrepared: 'Count',
  UnfinishedSubmitted: 'Count',
  UnfinishedAborting: 'Count',
  NeedsAttention: 'Count',
  /** It counts due transactions that no function took up: messages were lost, owners died, or a worker does not keep up. */
  Swept: 'Count',
  Purged: 'Count',
} as const

/** A gauge that could not be measured is absent. */
export type Gauges = Readonly<Partial<Record<keyof typeof GAUGES, number>>>

export interface SweptCounts {
  readonly swept: number | undefined
  readonly purged: number | undefined
}

/** Builds the gauges. `stats` must be read before anything is swept, since a swept transaction is no longer due. */
export function buildGauges(stats: StoreStats | undefined, { swept, purged }: SweptCounts): Gauges {
  return {
    ...(stats === undefined ? {} : toStatGauges(stats)),
    ...(swept === undefined ? {} : { Swept: swept }),
    ...(purged === undefined ? {} : { Purged: purged }),
  }
}

function toStatGauges({ now, oldestDueAt = now, unfinished, attention }: StoreStats): Gauges {
  return {
    OldestDueAgeMs: Math.max(0, now - oldestDueAt),
    UnfinishedPrepared: unfinished.prepared,
    UnfinishedSubmitted: unfinished.submitted,
    UnfinishedAborting: unfinished.aborting,
    NeedsAttention: attention,
  }
}

/** Makes a log line in CloudWatch's embedded metric format, from which CloudWatch takes the metrics without a call. */
export function writeEmbeddedMetrics(gauges: Gauges, namespace: string, nowMs: number): string {
  const names = Object.keys(gauges) as (keyof typeof GAUGES)[]
  const metrics = names.map((name) => ({ Name: name, Unit: GAUGES[name] }))
  const directive = { Namespace: namespace, Dimensions: [[]], Metrics: metrics }
  return JSON.stringify({ _aws: { Timestamp: nowMs, CloudWatchMetrics: [directive] }, ...gauges })
}
