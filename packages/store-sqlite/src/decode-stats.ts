import { foldProblems, MARK_BITS, type StoreStats, toStatus } from '@counterstep/core'
import { isFinalStatus, type UnfinishedStatus } from '@counterstep/protocol'
import type { Row } from './driver.ts'

/**
 * The first cell of a row says what it is: `counts` has status, attention, count, oldest due time and oldest accept of each
 * pair of the first two; `problem` and `marks` count the unfinished rows in trouble.
 */
export function decodeStats(rows: readonly Row[], now: number): StoreStats {
  const pick = (word: string) => rows.filter(([first]) => first === word).map(([, ...cells]) => cells)
  const [counts, problems, marks] = [pick('counts'), pick('problem'), pick('marks')] as const
  const unfinished: Record<UnfinishedStatus, number> = { prepared: 0, submitted: 0, aborting: 0 }
  let attention = 0
  for (const [code, isMarked, count] of counts) {
    const status = toStatus(code)
    // These counts have no place for a later version's status. Its rows are due and marked like any other.
    if (status !== undefined && !isFinalStatus(status)) unfinished[status] += Number(count)
    attention += Number(isMarked) * Number(count)
  }
  const oldestDueAt = findOldest(counts.map(([, , , dueAt]) => dueAt))
  const oldestUnfinishedAt = findOldest(counts.map(([, , , , createdAt]) => createdAt))
  return {
    ...{ now, unfinished, attention },
    ...(oldestDueAt !== undefined && { oldestDueAt }),
    ...(oldestUnfinishedAt !== undefined && { oldestUnfinishedAt }),
    paused: countMarked(marks, MARK_BITS.paused),
    byHand: countMarked(marks, MARK_BITS['by-hand']),
    problems: foldProblems(problems.map(toProblem)),
  }
}

function findOldest(instants: readonly unknown[]): number | undefined {
  const known = instants.filter((instant) => typeof instant === 'number')
  return known.length === 0 ? undefined : Math.min(...known)
}

function countMarked(marks: readonly Row[], bit: number): number {
  return marks.reduce((sum, [bits, count]) => sum + ((Number(bits) & bit) === 0 ? 0 : Number(count)), 0)
}

function toProblem([problem, isMarked, count, oldestAt]: Row) {
  const waiting = Number(count)
  return {
    ...{ problem: String(problem), waiting },
    attention: Number(isMarked) * waiting,
    oldestAt: Number(oldestAt),
  }
}
