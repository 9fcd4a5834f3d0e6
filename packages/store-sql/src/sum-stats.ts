import {
  foldProblems,
  MARK_BITS,
  OTHER_PROBLEMS,
  type StoredProblem,
  type StoreStats,
  toStatus,
} from '@counterstep/core'
import { isFinalStatus, type UnfinishedStatus } from '@counterstep/protocol'
import { type Row, toText } from './stored-row.ts'

/** The places of the columns of the statement that counts. Each store compares its own with it. */
export const STATS_COLUMNS = {
  ...{ now: 0, status: 1, attention: 2, marks: 3, named: 4, transactions: 5, dueAt: 6, createdAt: 7 },
} as const
const ROW = STATS_COLUMNS
/** The text by which the statement names all problems that are too rare. No problem has it. */
const RARE = ''

/** Sums up rows that were counted: one for each set of status, attention, marks and problem that occurs, and at least one that has the clock. */
export function sumStats(rows: readonly Row[]): StoreStats {
  const unfinished: Record<UnfinishedStatus, number> = { prepared: 0, submitted: 0, aborting: 0 }
  const sums = { attention: 0, paused: 0, byHand: 0 }
  let oldestDueAt = Number.POSITIVE_INFINITY
  let oldestUnfinishedAt = Number.POSITIVE_INFINITY
  const counted = rows.filter((row) => row[ROW.status] !== null)
  for (const row of counted) {
    const [count, marks] = [Number(row[ROW.transactions]), Number(row[ROW.marks])]
    const status = toStatus(row[ROW.status])
    // These counts have no place for a later version's status. Its rows are due and marked like any other.
    if (status !== undefined && !isFinalStatus(status)) unfinished[status] += count
    const isPaused = (marks & MARK_BITS.paused) !== 0
    sums.attention += Number(row[ROW.attention]) * count
    sums.paused += Number(isPaused) * count
    sums.byHand += Number((marks & MARK_BITS['by-hand']) !== 0) * count
    oldestDueAt = Math.min(oldestDueAt, Number(row[ROW.dueAt]))
    if (!isPaused) oldestUnfinishedAt = Math.min(oldestUnfinishedAt, Number(row[ROW.createdAt]))
  }
  return {
    now: Number(rows[0]?.[ROW.now]),
    ...{ unfinished, ...sums, problems: readProblems(counted) },
    ...(Number.isFinite(oldestDueAt) && { oldestDueAt }),
    ...(Number.isFinite(oldestUnfinishedAt) && { oldestUnfinishedAt }),
  }
}

function readProblems(rows: readonly Row[]): readonly StoredProblem[] {
  const counts = rows.flatMap((row) => toProblem(row) ?? [])
  const [others] = foldProblems(counts.filter(({ problem }) => problem === RARE))
  const named = foldProblems(counts.filter(({ problem }) => problem !== RARE))
  return others === undefined ? named : [...named, { ...others, problem: OTHER_PROBLEMS }]
}

function toProblem(row: Row): StoredProblem | undefined {
  const [problem, count] = [row[ROW.named], Number(row[ROW.transactions])]
  if (problem === null || problem === undefined) return undefined
  return {
    ...{ problem: toText(problem), waiting: count, attention: Number(row[ROW.attention]) * count },
    oldestAt: Number(row[ROW.createdAt]),
  }
}
