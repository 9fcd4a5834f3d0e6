import type { DuePostponement, DuePostponementResult } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { toText } from '@counterstep/store-sql'
import { STATEMENTS } from '../generated/sql.ts'
import { withClock } from '../sql/with-clock.ts'
import type { WritingStatements } from './statements.ts'

const POSTPONE_DUE = withClock(STATEMENTS.postponeDue)
const ROW = { now: 0, gid: 1 } as const

/** Skips rows that another session has locked. Two callers at once each get other rows, and neither waits. */
export async function postponeDue(
  statements: WritingStatements,
  { limit, byMs, formatMax }: DuePostponement,
): Promise<DuePostponementResult> {
  const rows = await statements.run({ sql: POSTPONE_DUE, values: [formatMax, limit, byMs] }, limit)
  const gids = rows.flatMap((row) => (row[ROW.gid] === null ? [] : [toText(row[ROW.gid]) as Gid]))
  return { now: Number(rows[0]?.[ROW.now]), gids }
}
