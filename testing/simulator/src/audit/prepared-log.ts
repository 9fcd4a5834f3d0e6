import type { RecordedEnd } from '@counterstep/core'
import type { MessagePlan, PreparedPlan, RecordedPlan, TccPlan } from '../clients/prepared-plan.ts'
import { type CommonLog, newCommonLog } from './common-log.ts'

export type Decision = 'forward' | 'backward'

interface PreparedCommon extends CommonLog {
  /** The decision that the store has. It is made once. */
  decision: Decision | undefined
  /** The decision that a client was told. */
  told: Decision | undefined
}

/** The auditor's record of a TCC. Sets of branches are bit masks. */
export interface TccLog extends PreparedCommon {
  readonly plan: TccPlan
  /** The branches whose registration the client knows. */
  registered: number
  /** The branches whose try may have been sent. */
  tried: number
  /** The numbers of confirms and cancels with an effect, over all branches. */
  confirmed: number
  cancelled: number
}

export interface MessageLog extends PreparedCommon {
  readonly plan: MessagePlan
  /** Whether the sender's own database transaction has committed. */
  hasCommitted: boolean
}

export interface RecordedLog extends PreparedCommon {
  readonly plan: RecordedPlan
  /** The instant at which its client first reported a step, by the step's id. */
  readonly reportedAt: Map<string, number>
  /** The earliest instant at which a node knew of such a report. */
  readonly knownAt: Map<string, number>
  /** The steps whose report was answered. */
  readonly acknowledged: Set<string>
  readonly endsAsked: RecordedEnd[]
}

export type PreparedLog = TccLog | MessageLog | RecordedLog

export function newPreparedLog(plan: PreparedPlan): PreparedLog {
  const common = { ...newCommonLog(), told: undefined }
  if (plan.kind === 'tcc')
    return { ...common, plan, decision: undefined, registered: 0, tried: 0, confirmed: 0, cancelled: 0 }
  if (plan.kind === 'recorded') {
    const reported = {
      reportedAt: new Map<string, number>(),
      knownAt: new Map<string, number>(),
      acknowledged: new Set<string>(),
      endsAsked: [],
    }
    return { ...common, plan, decision: undefined, ...reported }
  }
  // A message without a query-back is submitted from the start.
  const isPlain = plan.definition.check === undefined
  return { ...common, plan, decision: isPlain ? 'forward' : undefined, hasCommitted: isPlain }
}
