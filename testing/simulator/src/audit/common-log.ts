import type { FinalStatus } from '@counterstep/protocol'

/** The auditor's record of one transaction of any kind, beside the store and the ledger. */
export interface CommonLog {
  /** A client was told that it is accepted. */
  isAcknowledged: boolean
  /** Its client died before it got an answer, so the transaction may exist or not. */
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
  /** A command on a node that did not run it has ended it. Its owner learns of that with its next renewal. */
  isEndedByCommand: boolean
}

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
