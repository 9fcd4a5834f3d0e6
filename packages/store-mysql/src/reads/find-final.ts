import type { Gid } from '@counterstep/protocol'
import { STATEMENTS } from '../generated/sql.ts'
import type { Session } from '../sessions/session.ts'
import { fill, parseRowsStatement } from '../sessions/statement.ts'

const FIND_FINAL = parseRowsStatement(STATEMENTS.findFinal)

/** Finds which rows are final, by what stands in front of their definition. */
export async function findFinal(session: Session, gids: readonly Gid[]): Promise<readonly Gid[]> {
  if (gids.length === 0) return []
  const rows = await session.readRows(
    FIND_FINAL,
    gids.map((gid) => fill(FIND_FINAL.row, [gid])),
  )
  return rows.map(([gid]) => String(gid) as Gid)
}
