import type { FinalStatus } from '@counterstep/protocol'
import type { SagaPlan } from './saga-plan.ts'

/** What the auditor knows of one saga, beside the store and the ledger. Sets of branches are bit masks. */
export interface SagaLog {
  readonly plan: SagaPlan
  /** A client was told that it is accepted. */
  isAcknowledged: boolean
  abortAsked: boolean
  stopAsked: boolean
  /** The first final status that a client was told, and when. */
  finalSeen: FinalStatus | undefined
  finalSeenAt: number
  /** Actions that anybody ever sent. */
  sent: number
  /** What the durable abort decision says is to be undone. */
  undo: number | undefined
  isFinal: boolean
  /** Who started actions under which token. */
  readonly owners: Map<string, object>
}

export function newSagaLog(plan: SagaPlan): SagaLog {
  return {
    plan,
    isAcknowledged: false,
    abortAsked: false,
    stopAsked: false,
    finalSeen: undefined,
    finalSeenAt: 0,
    sent: 0,
    undo: undefined,
    isFinal: false,
    owners: new Map(),
  }
}

export function maskOf(branches: readonly number[]): number {
  return branches.reduce((mask, branch) => mask | (1 << branch), 0)
}
