import type { StoredProblem, StoredTransaction, StoreStats } from '@counterstep/core'
import { foldProblems } from '@counterstep/core'
import { isFinalStatus, type UnfinishedStatus } from '@counterstep/protocol'

export function countRows(rows: Iterable<StoredTransaction>, now: number): StoreStats {
  const unfinished: Record<UnfinishedStatus, number> = { prepared: 0, submitted: 0, aborting: 0 }
  let attention = 0
  let paused = 0
  let byHand = 0
  let oldestDueAt = Number.POSITIVE_INFINITY
  let oldestUnfinishedAt = Number.POSITIVE_INFINITY
  const problems: StoredProblem[] = []
  for (const row of rows) {
    if (isFinalStatus(row.status)) continue
    const { problem, createdAt, marks = [] } = row
    unfinished[row.status] += 1
    attention += Number(row.attention)
    paused += Number(marks.includes('paused'))
    byHand += Number(marks.includes('by-hand'))
    oldestDueAt = Math.min(oldestDueAt, row.dueAt)
    if (!marks.includes('paused')) oldestUnfinishedAt = Math.min(oldestUnfinishedAt, createdAt)
    if (problem !== undefined)
      problems.push({ problem, waiting: 1, attention: Number(row.attention), oldestAt: createdAt })
  }
  return {
    ...{ now, unfinished, attention, paused, byHand },
    ...(Number.isFinite(oldestDueAt) && { oldestDueAt }),
    ...(Number.isFinite(oldestUnfinishedAt) && { oldestUnfinishedAt }),
    problems: foldProblems(problems),
  }
}
