import type { Definition } from '@counterstep/core'
import type { TransactionView } from '@counterstep/protocol'
import { findRollbackReason } from '../view/rollback-reason.ts'
import { type Answer, answerFailure, ONGOING, SUCCESS } from './answer.ts'

/**
 * Answers a caller that asked for the result. It sends 409 only if the transaction will not succeed. DTM also sends 409
 * while the work goes on, so its clients cannot tell the two apart.
 */
export function answerToWaiter(view: TransactionView, definition: Definition): Answer {
  switch (view.status) {
    case 'succeeded':
      return SUCCESS
    case 'aborting':
    case 'failed':
    case 'stopped':
      return answerFailure(findRollbackReason(view, definition) || 'wait result not return success:')
    case 'prepared':
    case 'submitted':
      return ONGOING
  }
}
