import { NEVER_AT, type UpdateHold } from '@counterstep/core'
import { STATEMENTS } from './generated/sql.ts'
import { NOW_SQL, withNowMark } from './now-mark.ts'
import type { PendingUpdate } from './pending-writes.ts'
import { type Chunks, statementOf, weave } from './statement.ts'

const MARK = '/*hold*/'

/** What update.sql makes of each hold. Assigned from the left: due_at before the owner that it depends on. */
const STATEMENT_OF: Readonly<Record<UpdateHold['type'], Chunks>> = {
  keep: withHold(''),
  release: withHold(', due_at = ?, owned = 0'),
  finish: withHold(`, due_at = COALESCE(? + ${NOW_SQL}, ${NEVER_AT}), owned = 0, live = 0`),
  command: withHold(`, due_at = IF(owned = 1, due_at, COALESCE(?, ${NOW_SQL}))`),
}

/** Of a row that is alone in its flush. */
export function updateOne({ literals: { hold, shared, own } }: PendingUpdate): string {
  const { gid, token, version, due, writeId, progress } = own
  const held = hold === 'keep' ? [] : [due]
  return weave(STATEMENT_OF[hold], [...shared, writeId, progress, ...held, gid, token, version])
}

function withHold(sql: string): Chunks {
  return statementOf(withNowMark(STATEMENTS.updateOne.replace(MARK, sql)))
}
