import type { SagaPlan } from '../clients/saga-plan.ts'
import { type CommonLog, newCommonLog } from './log.ts'

/** Sets of branches are bit masks. */
export interface SagaLog extends CommonLog {
  readonly plan: SagaPlan
  /** Actions that anybody ever sent. */
  sent: number
  /** What the durable abort decision says is to be undone. */
  undo: number | undefined
  /** Who started actions under which token. */
  readonly owners: Map<string, object>
}

export function newSagaLog(plan: SagaPlan): SagaLog {
  return { ...newCommonLog(), plan, sent: 0, undo: undefined, owners: new Map() }
}

export function maskOf(branches: readonly number[]): number {
  return branches.reduce((mask, branch) => mask | (1 << branch), 0)
}
