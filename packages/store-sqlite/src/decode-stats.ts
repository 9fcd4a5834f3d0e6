import { type StoreStats, toStatus } from '@counterstep/core'
import { isFinalStatus, type UnfinishedStatus } from '@counterstep/protocol'
import type { Row } from './driver.ts'

/** Each row is a pair of status and attention that occurs: status, attention, count, oldest due time. */
export function decodeStats(rows: readonly Row[], now: number): StoreStats {
  const unfinished: Record<UnfinishedStatus, number> = { prepared: 0, submitted: 0, aborting: 0 }
  let attention = 0
  let oldestDueAt = Number.POSITIVE_INFINITY
  for (const [code, isMarked, count, dueAt] of rows) {
    const status = toStatus(code)
    // These counts have no place for a later version's status. Its rows are due and marked like any other.
    if (status !== undefined && !isFinalStatus(status)) unfinished[status] += Number(count)
    attention += Number(isMarked) * Number(count)
    oldestDueAt = Math.min(oldestDueAt, Number(dueAt))
  }
  return {
    ...{ now, unfinished, attention, paused: 0, byHand: 0, problems: [] },
    ...(Number.isFinite(oldestDueAt) && { oldestDueAt }),
  }
}
