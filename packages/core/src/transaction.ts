import type { AbortCause, Gid, OpState, Result } from '@counterstep/protocol'
import type { Definition } from './definition.ts'

/**
 * A transaction as plain data. All instants in it are by the store's clock.
 * What a status has, the others cannot be written with: an aborting one has its abort decision, a final one its end.
 */
export type Transaction = SagaTransaction

export type SagaTransaction =
  | (SagaCommon & { readonly status: 'submitted' })
  | (SagaCommon & { readonly status: 'aborting'; readonly abort: AbortDecision })
  | (SagaCommon & { readonly status: 'succeeded'; readonly finishedAt: number })
  | (SagaCommon & { readonly status: 'failed'; readonly abort: AbortDecision; readonly finishedAt: number })
  | (SagaCommon & { readonly status: 'stopped'; readonly abort?: AbortDecision; readonly finishedAt: number })

interface SagaCommon extends Identity {
  readonly kind: 'saga'
  readonly branches: readonly SagaBranchProgress[]
}

interface Identity {
  readonly gid: Gid
  readonly definition: Definition
  readonly digest: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly epoch: number
  /** Calls may have been sent that nothing here tells of: an abort must take every branch as sent. */
  readonly sentUnknown: boolean
  /** How many times an operator asked to retry now. */
  readonly nudges: number
  /** Why a person should look. */
  readonly attention?: string
}

export interface SagaBranchProgress {
  readonly action: OpProgress
  readonly compensate: OpProgress
}

export type SagaOp = 'action' | 'compensate'

/** `calling`: sent, and no answer known. `waiting`: answered unknown or ongoing, due again at `nextAt`. */
export interface OpProgress {
  readonly state: OpState
  /** Calls sent. */
  readonly attempts: number
  /** Unknown answers; what a retry limit counts. */
  readonly failures: number
  /** Unknown and ongoing answers; what the back-off grows with. */
  readonly waits: number
  readonly nextAt?: number
  readonly startedAt?: number
  readonly endedAt?: number
  readonly durationMs?: number
  readonly result?: Result
  readonly statusCode?: number
  readonly answer?: string
  readonly error?: string
}

/** Made once and saved strong; nobody shortens the list. */
export interface AbortDecision {
  readonly cause: AbortCause
  /** Position of the branch that caused it. */
  readonly branch?: number
  readonly at: number
  /** Positions of the branches whose action may have been sent. */
  readonly branches: readonly number[]
}

export const IDLE: OpProgress = { state: 'idle', attempts: 0, failures: 0, waits: 0 }
export const UNTOUCHED: SagaBranchProgress = { action: IDLE, compensate: IDLE }

export type FinalTransaction = Extract<Transaction, { readonly finishedAt: number }>

export function isFinal(transaction: Transaction): transaction is FinalTransaction {
  return 'finishedAt' in transaction
}
