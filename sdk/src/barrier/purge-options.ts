import { checkRetentionMs } from './retention.ts'
import { parseTableName, type TableName } from './table-name.ts'

/**
 * Says how many rows are deleted by one statement and one commit, few enough not to keep other transactions waiting.
 */
export const PURGE_CHUNK_ROWS = 500
const PURGE_ROWS_DEFAULT = 10_000

/**
 * Tells which rows to delete.
 *
 * @example
 * ```ts
 * const options: PurgeOptions = { retentionMs: 90 * 24 * 3_600_000, limit: 50_000 }
 * ```
 */
export interface PurgeOptions {
  readonly table?: string
  /**
   * This is the retention in milliseconds. It must be that of the barrier or longer, and at least one day. The default
   * is 60 days.
   */
  readonly retentionMs?: number
  /** Says how many rows to delete at most in this call. The default is 10,000. */
  readonly limit?: number
  /** Returns the time in epoch milliseconds. The default is `Date.now`. */
  readonly now?: () => number
}

export interface PurgePlan {
  readonly table: TableName
  /** Rows with an earlier instant are deleted: their transactions were accepted before it. */
  readonly before: number
  readonly limit: number
}

export function purgeBefore({
  table,
  retentionMs,
  limit = PURGE_ROWS_DEFAULT,
  now = Date.now,
}: PurgeOptions): PurgePlan {
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new TypeError('limit must be a whole number of at least 1')
  return { table: parseTableName(table), before: now() - checkRetentionMs(retentionMs), limit }
}
