import type { StoredTransaction } from '@counterstep/core'
import type { TransactionSummary } from '@counterstep/protocol'

/** Summarizes a row by its columns alone, as a list does. */
export function summarizeRow(row: StoredTransaction): TransactionSummary {
  const { gid, kind, status, createdAt, updatedAt, dueAt, epoch, retrying, attention } = row
  const { name, tags, problem, attempts, marks = [] } = row
  return {
    ...{ gid, kind, status, createdAt, updatedAt, dueAt, epoch, retrying, attention },
    ...(name === undefined ? {} : { name }),
    ...(tags === undefined ? {} : { tags }),
    ...(problem === undefined ? {} : { problem }),
    ...(attempts === undefined ? {} : { attempts }),
    ...(marks.includes('paused') ? { paused: true } : {}),
    ...(marks.includes('by-hand') ? { byHand: true } : {}),
    ...(marks.includes('edited') ? { edited: true } : {}),
  }
}
