import type { TraceContext } from '@counterstep/core'
import type { ErrorCode, FinalStatus, Gid, Kind, Op, Result } from '@counterstep/protocol'

/**
 * The engine reports to its host through this interface, for metrics and logs. A gid is never reported for a count. The
 * names of transactions and services are not bounded here: who counts by them bounds them.
 */
export interface EngineObserver {
  /** `name` is that of the transaction, or `-`. */
  accepted(kind: Kind, name: string): void
  /** A submit was refused and stored nothing. */
  refused(code: ErrorCode): void
  /** This node knows that the transaction is final and durable. `durationMs` counts from the accept. */
  finished(kind: Kind, status: FinalStatus, durationMs: number, name: string): void
  /**
   * A call of a branch has ended. `service` is the name of the service, or undefined where nothing was sent. `outcome` is
   * the status code, or else the word of the error.
   */
  branchCalled(
    op: Op,
    result: Result,
    durationMs: number,
    service: string | undefined,
    outcome: number | string | undefined,
  ): void
  storeCalled(verb: StoreVerb, outcome: StoreOutcome, durationMs: number): void
  claimed(count: number): void
  /** An event that a person may want to read. It has no payload, header value or answer. */
  event(event: EngineEvent): void
}

export type StoreVerb =
  | 'create'
  | 'read'
  | 'settle'
  | 'update'
  | 'renew'
  | 'claim-due'
  | 'claim'
  | 'postpone-due'
  | 'list'
  | 'stats'
  | 'purge'
  | 'read-documents'
  | 'write-document'
  | 'remove-document'
export type StoreOutcome = 'ok' | 'conflict' | 'fenced' | 'unavailable'

/** These are the events that the engine reports. `docs/guides/operate.md` explains each. */
export const ENGINE_EVENT_NAMES = [
  'transaction-needs-attention',
  'transaction-rests',
  'transaction-parked',
  'transaction-lost',
  'transaction-step-failed',
  'transaction-attempt-failed',
  'take-over-failed',
  'give-back-failed',
  'save-conflict',
  'save-fenced',
  'save-absent',
  'store-does-not-answer',
  'store-answers-again',
  'claim-failed',
  'renewal-failed',
  'look-up-failed',
  'purge-failed',
  'bulk-failed',
  'accept-given-up',
  'memory-ack-lost',
  'wake-up-failed',
  'branch-left-running',
  'target-over-share',
  'service-failing',
  'service-answers-again',
  'node-report-failed',
  'watch-failed',
  'operator-command',
  'alert-sent',
  'alert-undelivered',
  'alert-failed',
] as const

/** A service whose calls of one op fail. */
export interface FailingService {
  readonly name: string
  readonly op: Op
  /** The status code of the last answer, or else the word of the error. */
  readonly outcome: string
  /** The calls since it last answered. */
  readonly failures: number
  /** When the first of them ended, in ISO 8601. */
  readonly since: string
}

export interface EngineEvent {
  readonly level: 'info' | 'warn' | 'error'
  readonly name: (typeof ENGINE_EVENT_NAMES)[number]
  readonly gid?: Gid
  /** Where the transaction stands in its caller's trace. */
  readonly trace?: TraceContext | undefined
  readonly detail?: string
  /** It is about this service. */
  readonly service?: FailingService
  readonly error?: unknown
  /** Further fields of the log line, by name. */
  readonly fields?: Readonly<Record<string, string>>
}
