import { STATEMENTS } from '../generated/sql.ts'
import { withClock } from '../sql/with-clock.ts'
import type { WritingStatements } from './statements.ts'

const PURGE = withClock(STATEMENTS.purge)

export async function purgeFinished(
  statements: WritingStatements,
  limit: number,
): Promise<{ readonly purged: number }> {
  const [row] = await statements.run({ sql: PURGE, values: [limit] }, limit)
  return { purged: Number(row?.[0]) }
}
