import type { SagaPlan } from '../clients/saga-plan.ts'
import { type CommonLog, newCommonLog } from './common-log.ts'

/** The auditor's record of a saga. Sets of branches are bit masks. */
export interface SagaLog extends CommonLog {
  readonly plan: SagaPlan
  /** The actions that any node has ever sent. */
  sent: number
  /** The branches to undo by the durable abort decision. */
  undo: number | undefined
  /** The run that started actions under each token. */
  readonly owners: Map<string, object>
}

export function newSagaLog(plan: SagaPlan): SagaLog {
  return { ...newCommonLog(), plan, sent: 0, undo: undefined, owners: new Map() }
}

export function toMask(branches: readonly number[]): number {
  return branches.reduce((mask, branch) => mask | (1 << branch), 0)
}
