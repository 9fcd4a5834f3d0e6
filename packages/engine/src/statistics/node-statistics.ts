/** Counts what this node's transactions and calls come to, minute by minute, in memory. */
import {
  ALERT_NAME,
  type ErrorCode,
  FINAL_STATUSES,
  type FinalStatus,
  type Op,
  RESULTS,
  type Result,
} from '@counterstep/protocol'
import type { EngineObserver } from '../observer.ts'
import { BUCKETS, findBucket } from './histogram.ts'
import { MINUTE_MS, MinuteRing } from './minute-ring.ts'
import { RingTable } from './ring-table.ts'

/** Calls are counted by result, in the order of RESULTS, and then by duration. */
export const CALL_COUNTS = RESULTS.length
/** Transactions are counted as accepted, then by final status in the order of FINAL_STATUSES, and then by duration. */
export const ENDED_COUNTS = 1 + FINAL_STATUSES.length
/** Both have as many counts before their buckets. */
export const COUNTS = 4
const COLUMNS = COUNTS + BUCKETS

const COLUMN_OF_RESULT = toColumns(RESULTS, 0)
const COLUMN_OF_STATUS = toColumns(FINAL_STATUSES, 1)

/** Transactions have no parts as services have ops. */
export const WHOLE = 'whole'

export type Counted = Pick<EngineObserver, 'accepted' | 'finished' | 'refused' | 'branchCalled'>

const NO_SERVICES: ReadonlySet<string> = new Set()

export class NodeStatistics implements Counted {
  readonly services = new RingTable<Op>(COLUMNS)
  readonly names = new RingTable<typeof WHOLE>(COLUMNS)
  /** The rings are few, since the codes are. */
  readonly refusals = new Map<ErrorCode, MinuteRing>()
  /** It is in epoch milliseconds, as are all instants here. */
  readonly since: number
  readonly #readEpochMs: () => number

  constructor(readEpochMs: () => number) {
    this.#readEpochMs = readEpochMs
    this.since = readEpochMs()
  }

  /** The number of whole minutes since the epoch. */
  get minute(): number {
    return Math.floor(this.#readEpochMs() / MINUTE_MS)
  }

  get now(): number {
    return this.#readEpochMs()
  }

  accepted(_kind: unknown, name: string): void {
    const { minute } = this
    this.names.find(name, WHOLE, minute).increment(minute, 0)
  }

  finished(_kind: unknown, status: FinalStatus, durationMs: number, name: string): void {
    const { minute } = this
    this.names
      .find(name, WHOLE, minute)
      .incrementBoth(minute, COLUMN_OF_STATUS[status], COUNTS + findBucket(durationMs))
  }

  branchCalled(op: Op, result: Result, durationMs: number, service: string | undefined): void {
    if (service === undefined) return
    const { minute } = this
    this.services
      .find(service, op, minute)
      .incrementBoth(minute, COLUMN_OF_RESULT[result], COUNTS + findBucket(durationMs))
  }

  refused(code: ErrorCode): void {
    const ring = this.refusals.get(code) ?? new MinuteRing(1)
    this.refusals.set(code, ring)
    ring.increment(this.minute, 0)
  }
}

/**
 * Makes an observer that counts in these statistics what it passes on. Alerts are left out of them, and so are the services
 * that alerts are sent to: they would be seen among the transactions of users.
 */
export function countInto(
  statistics: NodeStatistics,
  observer: EngineObserver,
  alertServices: ReadonlySet<string> = NO_SERVICES,
): EngineObserver {
  return {
    accepted(kind, name) {
      if (name !== ALERT_NAME) statistics.accepted(kind, name)
      observer.accepted(kind, name)
    },
    refused(code) {
      statistics.refused(code)
      observer.refused(code)
    },
    finished(kind, status, durationMs, name) {
      if (name !== ALERT_NAME) statistics.finished(kind, status, durationMs, name)
      observer.finished(kind, status, durationMs, name)
    },
    branchCalled(op, result, durationMs, service, outcome) {
      if (service === undefined || !alertServices.has(service))
        statistics.branchCalled(op, result, durationMs, service)
      observer.branchCalled(op, result, durationMs, service, outcome)
    },
    storeCalled: (verb, outcome, durationMs) => observer.storeCalled(verb, outcome, durationMs),
    claimed: (count) => observer.claimed(count),
    event: (event) => observer.event(event),
  }
}

function toColumns<Word extends string>(words: readonly Word[], first: number): Record<Word, number> {
  // The type is right, since the table has an entry for each word.
  return Object.fromEntries(words.map((word, index) => [word, first + index])) as Record<Word, number>
}
