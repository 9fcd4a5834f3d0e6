import type { ErrorCode, FinalStatus, Gid, Kind, Op, Result } from '@counterstep/protocol'

/**
 * The engine reports to its host through this interface, for metrics and logs. Every label has a bounded set of values,
 * so a gid is never a label.
 */
export interface EngineObserver {
  accepted(kind: Kind): void
  /** A submit was refused and stored nothing. */
  refused(code: ErrorCode): void
  /** This node knows that the transaction is final and durable. `durationMs` counts from the accept. */
  finished(kind: Kind, status: FinalStatus, durationMs: number): void
  branchCalled(op: Op, result: Result, durationMs: number): void
  storeCalled(verb: StoreVerb, outcome: StoreOutcome, durationMs: number): void
  claimed(count: number): void
  /** An event that a person may want to read. It has no payload, header value or answer. */
  event(event: EngineEvent): void
}

export type StoreVerb =
  | 'create'
  | 'read'
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
  'accept-given-up',
  'memory-ack-lost',
  'wake-up-failed',
  'target-over-share',
] as const

export interface EngineEvent {
  readonly level: 'info' | 'warn' | 'error'
  readonly name: (typeof ENGINE_EVENT_NAMES)[number]
  readonly gid?: Gid
  readonly detail?: string
  readonly error?: unknown
}
