import type { Definition } from '@counterstep/core'
import type { TransactionView } from '@counterstep/protocol'
import { rollbackReason } from '../view/rollback-reason.ts'
import { type Answer, failure, ONGOING, SUCCESS } from './answer.ts'

/**
 * Answers a caller that asked for the result. It sends 409 only for what will not be done: DTM also sends 409 for what
 * goes on, and a client cannot tell the two apart.
 */
export function answerToWaiter(view: TransactionView, definition: Definition): Answer {
  switch (view.status) {
    case 'succeeded':
      return SUCCESS
    case 'aborting':
    case 'failed':
    case 'stopped':
      return failure(rollbackReason(view, definition) || 'wait result not return success:')
    case 'prepared':
    case 'submitted':
      return ONGOING
  }
}
