import type { StoreStats } from '@counterstep/core'

/** What the sweeper publishes; the alarms of the template are on these names. */
export const GAUGES = {
  OldestDueAgeMs: 'Milliseconds',
  UnfinishedPrepared: 'Count',
  UnfinishedSubmitted: 'Count',
  UnfinishedAborting: 'Count',
  NeedsAttention: 'Count',
  /** What was due and nobody looked at: lost messages, dead owners, a worker that does not keep up. */
  Swept: 'Count',
  Purged: 'Count',
} as const

/** What could not be measured is not in it. */
export type Gauges = Readonly<Partial<Record<keyof typeof GAUGES, number>>>

export interface SweptCounts {
  readonly swept: number | undefined
  readonly purged: number | undefined
}

/** @param stats as they were before anything was swept. */
export function gaugesOf(stats: StoreStats | undefined, { swept, purged }: SweptCounts): Gauges {
  return {
    ...(stats === undefined ? {} : measured(stats)),
    ...(swept === undefined ? {} : { Swept: swept }),
    ...(purged === undefined ? {} : { Purged: purged }),
  }
}

function measured({ now, oldestDueAt = now, unfinished, attention }: StoreStats): Gauges {
  return {
    OldestDueAgeMs: Math.max(0, now - oldestDueAt),
    UnfinishedPrepared: unfinished.prepared,
    UnfinishedSubmitted: unfinished.submitted,
    UnfinishedAborting: unfinished.aborting,
    NeedsAttention: attention,
  }
}

/** A line of CloudWatch's embedded metric format: a log line from which it takes the metrics, without a call. */
export function embeddedMetrics(gauges: Gauges, namespace: string, nowMs: number): string {
  const names = Object.keys(gauges) as (keyof typeof GAUGES)[]
  const metrics = names.map((name) => ({ Name: name, Unit: GAUGES[name] }))
  const directive = { Namespace: namespace, Dimensions: [[]], Metrics: metrics }
  return JSON.stringify({ _aws: { Timestamp: nowMs, CloudWatchMetrics: [directive] }, ...gauges })
}
