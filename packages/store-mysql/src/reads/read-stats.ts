import { type StoreStats, toStatus } from '@counterstep/core'
import { isFinalStatus, type UnfinishedStatus } from '@counterstep/protocol'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import type { Session } from '../sessions/session.ts'

const ROW = COLUMNS.stats

/** The statement returns one row for each pair of status and attention that occurs. */
export async function readStats(session: Session): Promise<StoreStats> {
  const rows = await session.all(STATEMENTS.stats)
  const unfinished: Record<UnfinishedStatus, number> = { prepared: 0, submitted: 0, aborting: 0 }
  let attention = 0
  let oldestDueAt = Number.POSITIVE_INFINITY
  for (const row of rows) {
    const code = row[ROW.status]
    if (code === null) continue
    const count = Number(row[ROW.transactions])
    const status = toStatus(code)
    // These counts have no place for a later version's status. Its rows are due and marked like any other.
    if (status !== undefined && !isFinalStatus(status)) unfinished[status] += count
    attention += Number(row[ROW.attention]) * count
    oldestDueAt = Math.min(oldestDueAt, Number(row[ROW.dueAt]))
  }
  const now = Number(rows[0]?.[ROW.now])
  return {
    ...{ now, unfinished, attention, paused: 0, byHand: 0, problems: [] },
    ...(Number.isFinite(oldestDueAt) && { oldestDueAt }),
  }
}
