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
  /** When each action took effect first, by the store's clock. */
  readonly effectAt: (number | undefined)[]
  /** When a signal of each name was sent first, by the store's clock. */
  readonly signalAt: Map<string, number>
  /** The state that the sender of each acknowledged signal was told. */
  readonly signals: Map<string, 'taken' | 'kept'>
  /** The branches that cannot be undone and whose first call has arrived. */
  readonly arrived: Set<number>
  /** The mark of no return was durable once. */
  isMarked: boolean
  /** It is told of each wait for a signal that opens, and how long the wait lasts. */
  onOpen: ((name: string, leftMs: number) => void) | undefined
}

export function newSagaLog(plan: SagaPlan): SagaLog {
  return {
    ...newCommonLog(),
    plan,
    sent: 0,
    undo: undefined,
    owners: new Map(),
    effectAt: [],
    signalAt: new Map(),
    signals: new Map(),
    arrived: new Set(),
    isMarked: false,
    onOpen: undefined,
  }
}

export function toMask(branches: readonly number[]): number {
  return branches.reduce((mask, branch) => mask | (1 << branch), 0)
}
