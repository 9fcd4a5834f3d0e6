import type { TccBranch } from '../definition.ts'
import type { BranchAnswer } from '../ports/ports.ts'
import type { CalledOp } from '../transaction.ts'
import type { RetryBounds } from './backoff.ts'

export interface CallKey {
  /** Position among the branches, or CHECK. */
  readonly branch: number
  readonly op: CalledOp
}

/** A call that found no room. It may be sent in `waitMs`. */
export interface HeldCall {
  readonly call: CallKey
  readonly attempt: number
  readonly waitMs: number
}

/** What may happen to a transaction. The runner turns everything from outside into one of these. */
export type TransactionEvent =
  /** A runner took it over. Calls that the last one had in flight are no longer its own. */
  | { readonly type: 'claimed'; readonly epoch: number; readonly sentUnknown: boolean }
  /** These calls are being sent. */
  | { readonly type: 'sent'; readonly calls: readonly CallKey[] }
  | {
      readonly type: 'answered'
      readonly call: CallKey
      readonly attempt: number
      readonly answer: BranchAnswer
      readonly durationMs: number
      /** Uniform in [0, 1), for the next wait. */
      readonly jitter01: number
      /** Absent: those that hold everywhere. */
      readonly bounds?: RetryBounds
    }
  /** There was no room for these calls: they were never sent. */
  | { readonly type: 'held-back'; readonly calls: readonly HeldCall[] }
  /** Time has passed: deadlines and starts may be due. */
  | { readonly type: 'time' }
  | Command

/** What its client or an operator may ask, of any node. */
export type Command =
  /** A TCC gets one more branch, which its client has not tried yet. */
  | { readonly type: 'register-asked'; readonly branch: TccBranch }
  /** The client has done its part of a prepared transaction: confirm, or deliver. */
  | { readonly type: 'submit-asked' }
  | { readonly type: 'abort-asked'; readonly reason?: string }
  | { readonly type: 'retry-asked' }
  | { readonly type: 'stop-asked' }

/** What the transaction now wants; one that is final wants nothing. */
export type TransactionEffect =
  | { readonly type: 'call'; readonly call: CallKey }
  | { readonly type: 'wake-at'; readonly at: number }

/**
 * `strong`: durable before anyone acts on it or is told. `lazy`: may be saved later, with a later state; a crash
 * repeats the call and the participant's barrier absorbs the repeat. `none`: nothing changed that a save must hold.
 */
export type Durability = 'strong' | 'lazy' | 'none'
