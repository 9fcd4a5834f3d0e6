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

export type Gauges = Readonly<Record<keyof typeof GAUGES, number>>

export interface SweptCounts {
  readonly swept: number
  readonly purged: number
}

/** @param stats as they were before anything was swept. */
export function gaugesOf(stats: StoreStats, { swept, purged }: SweptCounts): Gauges {
  const { now, oldestDueAt = now, unfinished, attention } = stats
  return {
    OldestDueAgeMs: Math.max(0, now - oldestDueAt),
    UnfinishedPrepared: unfinished.prepared,
    UnfinishedSubmitted: unfinished.submitted,
    UnfinishedAborting: unfinished.aborting,
    NeedsAttention: attention,
    Swept: swept,
    Purged: purged,
  }
}

/** A line of CloudWatch's embedded metric format: a log line from which it takes the metrics, without a call. */
export function embeddedMetrics(gauges: Gauges, namespace: string, nowMs: number): string {
  const metrics = Object.entries(GAUGES).map(([Name, Unit]) => ({ Name, Unit }))
  const directive = { Namespace: namespace, Dimensions: [[]], Metrics: metrics }
  return JSON.stringify({ _aws: { Timestamp: nowMs, CloudWatchMetrics: [directive] }, ...gauges })
}
