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

/** Takes of a stored row what a list shows. */
export function toListed(row: ListedTransaction): ListedTransaction {
  const { gid, kind, status, createdAt, updatedAt, dueAt, epoch, retrying, attention } = row
  const { name, tags, problem, attempts, marks } = row
  return {
    ...{ gid, kind, status, createdAt, updatedAt, dueAt, epoch, retrying, attention },
    ...(name === undefined ? {} : { name }),
    ...(tags === undefined ? {} : { tags }),
    ...(problem === undefined ? {} : { problem }),
    ...(attempts === undefined ? {} : { attempts }),
    ...(marks === undefined ? {} : { marks }),
  }
}
