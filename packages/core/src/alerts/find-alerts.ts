/** Says what there is to tell, from what a node knows of the store, of its fellows and of bulk jobs. */
import type { AlertRule, BulkState } from '@counterstep/protocol'
import type { BulkJob } from '../bulk/bulk-job.ts'
import type { StoredProblem } from '../ports/store.ts'
import { cutSubject } from './alert-state.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** So many transactions of a name must have ended in 5 minutes before its share of failures says something. */
export const FAILED_ENDED_MIN = 20
export const FAILED_WINDOW_MS = 5 * MINUTE_MS
/** A row that is due is taken up within a lease, so that something is wrong when it is overdue for longer. */
export const OVERDUE_MS_MAX = 60_000
const OVERDUE_HOLD_MS = 5 * MINUTE_MS
export const UNFINISHED_MS_MAX = HOUR_MS
export const PAUSED_MS_MAX = 24 * HOUR_MS
/** An event that happens once, such as the end of a job, is told if a node looks within this time. */
export const HAPPENED_MS_MAX = HOUR_MS

/** Several rows, and the oldest instant of them. */
export interface RowGroup {
  readonly count: number
  readonly since: number
}

export interface AlertObservation {
  /** It is by the store's clock, as all instants here are. */
  readonly now: number
  readonly problems: readonly StoredProblem[]
  /** The transactions of each name that have ended in the last 5 minutes. */
  readonly names: readonly { readonly name: string; readonly ended: number; readonly failed: number }[]
  readonly oldestDueAt?: number
  /** These are unfinished for over an hour, and neither paused nor waiting by their own plan. */
  readonly unfinished?: RowGroup
  /** These are paused for over a day. */
  readonly paused?: RowGroup
  readonly storeEvents: readonly (RowGroup & { readonly name: string })[]
  readonly bulkJobs: readonly (Pick<BulkJob, 'id' | 'stateSince' | 'pausedBy'> & {
    readonly state: BulkState
    readonly refused: number
  })[]
}

export interface AlertRuleSettings {
  /** The share of failed transactions from which on a name is told. */
  readonly failedShare: number
  /** The services that alerts are sent to. What they suffer from is no alert. */
  readonly services: ReadonlySet<string>
}

/** Something that is the case now. */
export interface AlertFinding {
  readonly rule: AlertRule
  readonly subject: string
  readonly count: number
  /** All of which `count` is a part. */
  readonly total?: number
  /** Absent: since it was first found. */
  readonly since?: number
  /** It is told once it has been the case for so long. */
  readonly holdMs: number
}

export function findAlerts(seen: AlertObservation, settings: AlertRuleSettings): AlertFinding[] {
  return [
    ...findAttention(seen, settings),
    ...findFailed(seen, settings),
    ...findStuck(seen),
    ...findPaused(seen),
    ...findStoreEvents(seen),
    ...findBulk(seen),
  ]
}

function findAttention(
  { problems }: AlertObservation,
  { services }: AlertRuleSettings,
): readonly AlertFinding[] {
  return problems
    .filter(({ problem, attention }) => attention > 0 && !services.has(problem.split(' ')[0] ?? ''))
    .map(({ problem, attention, oldestAt }) => ({
      rule: 'attention',
      subject: cutSubject(problem),
      count: attention,
      since: oldestAt,
      holdMs: 0,
    }))
}

function findFailed(
  { names }: AlertObservation,
  { failedShare }: AlertRuleSettings,
): readonly AlertFinding[] {
  return names
    .filter(({ ended, failed }) => ended >= FAILED_ENDED_MIN && failed > 0 && failed / ended >= failedShare)
    .map(({ name, ended, failed }) => ({
      rule: 'failed',
      subject: cutSubject(name),
      count: failed,
      total: ended,
      holdMs: 0,
    }))
}

function findStuck({ now, oldestDueAt, unfinished }: AlertObservation): readonly AlertFinding[] {
  const isOverdue = oldestDueAt !== undefined && now - oldestDueAt > OVERDUE_MS_MAX
  return [
    ...(isOverdue
      ? ([
          { rule: 'stuck', subject: 'overdue', count: 1, since: oldestDueAt, holdMs: OVERDUE_HOLD_MS },
        ] as const)
      : []),
    ...(unfinished === undefined
      ? []
      : ([{ rule: 'stuck', subject: 'unfinished', ...unfinished, holdMs: 0 }] as const)),
  ]
}

function findPaused({ paused }: AlertObservation): readonly AlertFinding[] {
  return paused === undefined ? [] : [{ rule: 'paused', subject: 'paused', ...paused, holdMs: 0 }]
}

function findStoreEvents({ now, storeEvents }: AlertObservation): readonly AlertFinding[] {
  return storeEvents
    .filter(({ since }) => now - since < HAPPENED_MS_MAX)
    .map(({ name, count, since }) => ({ rule: 'store', subject: name, count, since, holdMs: 0 }))
}

/** A person who pauses a job knows it. A job that has paused by itself is told, and one that ends with refusals. */
function findBulk({ now, bulkJobs }: AlertObservation): readonly AlertFinding[] {
  return bulkJobs
    .filter(({ stateSince, state, pausedBy, refused }) => {
      const hasPaused = state === 'paused' && (pausedBy === 'canary' || pausedBy === 'refusals')
      return now - stateSince < HAPPENED_MS_MAX && (hasPaused || (state === 'done' && refused > 0))
    })
    .map(({ id, refused, stateSince }) => ({
      rule: 'bulk',
      subject: id,
      count: Math.max(1, refused),
      since: stateSince,
      holdMs: 0,
    }))
}
