import type { ListedTransaction } from '@counterstep/core'
import type { TransactionSummary } from '@counterstep/protocol'

/** Shows a listed row. Each mark is a field of its own. */
export function toSummary({ marks = [], ...row }: ListedTransaction): TransactionSummary {
  return {
    ...row,
    ...(marks.includes('paused') ? { paused: true } : {}),
    ...(marks.includes('by-hand') ? { byHand: true } : {}),
    ...(marks.includes('edited') ? { edited: true } : {}),
  }
}
