import type { MessagePlan, PreparedPlan, TccPlan } from '../clients/prepared-plan.ts'
import { type CommonLog, newCommonLog } from './log.ts'

export type Turn = 'forward' | 'backward'

interface PreparedCommon extends CommonLog {
  /** What the store says was decided: made once. */
  turn: Turn | undefined
  /** What a client was told. */
  told: Turn | undefined
}

/** Sets of branches are bit masks. */
export interface TccLog extends PreparedCommon {
  readonly plan: TccPlan
  /** Branches of which the client was told that they are registered. */
  registered: number
  /** Branches whose try may have been sent. */
  tried: number
  /** Effects of confirms and of cancels, of the whole transaction. */
  confirmed: number
  cancelled: number
}

export interface MessageLog extends PreparedCommon {
  readonly plan: MessagePlan
  /** The sender's own database transaction. */
  hasCommitted: boolean
}

export type PreparedLog = TccLog | MessageLog

export function newPreparedLog(plan: PreparedPlan): PreparedLog {
  const common = { ...newCommonLog(), told: undefined }
  if (plan.kind === 'tcc')
    return { ...common, plan, turn: undefined, registered: 0, tried: 0, confirmed: 0, cancelled: 0 }
  // Without a query-back it is submitted from the start.
  const isPlain = plan.definition.check === undefined
  return { ...common, plan, turn: isPlain ? 'forward' : undefined, hasCommitted: isPlain }
}
