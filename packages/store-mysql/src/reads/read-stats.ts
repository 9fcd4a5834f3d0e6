import type { StoreStats } from '@counterstep/core'
import { PROBLEMS_MAX } from '@counterstep/protocol'
import { type STATS_COLUMNS, sumStats } from '@counterstep/store-sql'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import type { Session } from '../sessions/session.ts'
import { fill, parseStatement } from '../sessions/statement.ts'

COLUMNS.stats satisfies typeof STATS_COLUMNS
const STATS = parseStatement(STATEMENTS.stats)

export async function readStats(session: Session): Promise<StoreStats> {
  return sumStats(await session.all(fill(STATS, [PROBLEMS_MAX])))
}
