import { type StoreStats, toStatus } from '@counterstep/core'
import { isFinalStatus, type UnfinishedStatus } from '@counterstep/protocol'
import { STATEMENTS } from '../generated/sql.ts'
import type { Session } from '../sessions/session.ts'

/** One row for each status and attention that occur: the clock, status, attention, count, oldest due instant. */
export async function readStats(session: Session): Promise<StoreStats> {
  const rows = await session.all(STATEMENTS.stats)
  const unfinished: Record<UnfinishedStatus, number> = { prepared: 0, submitted: 0, aborting: 0 }
  let attention = 0
  let oldestDueAt = Number.POSITIVE_INFINITY
  for (const [, code, isMarked, count, dueAt] of rows) {
    if (code === null) continue
    const status = toStatus(code)
    // A later version's status has no place in these counts; its rows are due and marked like any other.
    if (status !== undefined && !isFinalStatus(status)) unfinished[status] += Number(count)
    attention += Number(isMarked) * Number(count)
    oldestDueAt = Math.min(oldestDueAt, Number(dueAt))
  }
  const now = Number(rows[0]?.[0])
  return { now, unfinished, attention, ...(Number.isFinite(oldestDueAt) && { oldestDueAt }) }
}
