import type { LatencyMs, TimedLength } from '../../load/load-job.ts'

/** How one row is written: by a bare UPDATE, behind the barrier, behind the barrier in groups. */
export const WAYS = ['update', 'plain', 'grouped'] as const
export type Way = (typeof WAYS)[number]

/** The task of the process that plays the callers. */
export interface CallersJob {
  readonly way: Way
  /** The URL of the way's own database. */
  readonly databaseUrl: string
  readonly callers: number
  readonly length: TimedLength
  /** The share of the calls that are sent twice, 0 to 1: half of these at once, half after the first's answer. */
  readonly twiceShare: number
}

/** All calls that were answered, with those of the warm-up and of the drain. */
export interface CallCounts {
  readonly ran: number
  readonly duplicates: number
  /** The balance was too small. */
  readonly refused: number
  /** Pairs, of which at most one ran. */
  readonly sentTwice: number
}

export interface CallersResult extends CallCounts {
  /** Only what ran, in the measured part. */
  readonly ranPerSecond: number
  readonly latencyMs: LatencyMs
}
