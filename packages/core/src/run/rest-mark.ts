/** The words of the mark that a row gets when its claims make no progress. */
import type { Transaction } from '../transaction.ts'

/** After more claims than this without a save, the row itself may be crashing its owners. */
export const CLAIMS_WITHOUT_PROGRESS_MAX = 3
/**
 * After more claims than this without an answer, the row may be crashing its owners later than at the first checkpoint,
 * for instance by the answer of a slow branch. This bound is higher than the other one, because rows that call slow
 * branches get no answer either while another row keeps crashing their owners.
 */
export const CLAIMS_UNANSWERED_MAX = 10
export const NO_PROGRESS_REASON = `claimed ${CLAIMS_WITHOUT_PROGRESS_MAX} times without progress`
export const NO_ANSWER_REASON = `claimed ${CLAIMS_UNANSWERED_MAX} times without an answer`

/** Whether the row has rested before, so that its attention mark ends with a reason for a rest. */
export function hasRested({ attention = '' }: Pick<Transaction, 'attention'>): boolean {
  return attention.endsWith(NO_PROGRESS_REASON) || attention.endsWith(NO_ANSWER_REASON)
}
