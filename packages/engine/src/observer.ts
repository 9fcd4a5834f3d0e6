import type { ErrorCode, FinalStatus, Gid, Kind, Op, Result } from '@counterstep/protocol'

/** What the engine tells a host, for metrics and logs. Every label has a bounded set of values; a gid is never one. */
export interface EngineObserver {
  accepted(kind: Kind): void
  /** A submit that was refused without storing anything. */
  refused(code: ErrorCode): void
  /** Durable, and seen by this node. `durationMs` from accept. */
  finished(kind: Kind, status: FinalStatus, durationMs: number): void
  branchCalled(op: Op, result: Result, durationMs: number): void
  storeCalled(verb: StoreVerb, outcome: StoreOutcome, durationMs: number): void
  claimed(count: number): void
  /** Something that a person may want to read; `fields` holds no payload, header value or answer. */
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

/** What the engine reports; `docs/guides/operate.md` explains each. */
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
