import type { FinalStatus } from '@counterstep/protocol'
import type { PreparedLog } from './prepared-log.ts'
import type { SagaLog } from './saga-log.ts'

/** What the auditor knows of one transaction, whatever its kind, beside the store and the ledger. */
export interface CommonLog {
  /** A client was told that it is accepted. */
  isAcknowledged: boolean
  /** Its client died before it was told: it may be there or not. */
  isOrphan: boolean
  abortAsked: boolean
  stopAsked: boolean
  /** The first final status that a client was told, and when. */
  finalSeen: FinalStatus | undefined
  finalSeenAt: number
  /** When a client was first told that it is aborting. */
  abortSeenAt: number | undefined
  /** Its only submit was refused, and its client gave up. */
  isRefused: boolean
  isFinal: boolean
  /** By a node that did not run it: who runs it hears of that with its next renewal. */
  isEndedByCommand: boolean
}

export type Log = SagaLog | PreparedLog

export function newCommonLog(): CommonLog {
  return {
    isAcknowledged: false,
    isOrphan: false,
    abortAsked: false,
    stopAsked: false,
    finalSeen: undefined,
    finalSeenAt: 0,
    abortSeenAt: undefined,
    isRefused: false,
    isFinal: false,
    isEndedByCommand: false,
  }
}
