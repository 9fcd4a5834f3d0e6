import { decodeTags, toTagWords } from '@counterstep/core'
import { type Row, toText } from '@counterstep/store-sql'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import { fill, parseRowsStatement, parseStatement } from '../sessions/statement.ts'
import type { Tx, Work } from '../transactions/transaction-protocol.ts'

const FIND_PURGEABLE = parseStatement(STATEMENTS.findPurgeable)
const PURGE = parseRowsStatement(STATEMENTS.purge)
const DELETE_TAGS = parseRowsStatement(STATEMENTS.deleteTags)
const FOUND = COLUMNS.findPurgeable
/** Bounds a statement, because the server parses all of it before it begins. */
const TAGS_AT_ONCE = 1_000

/** Deletes by primary key, and skips rows that another transaction has locked: it locks no range and waits for no lock. */
export async function purgeFinished(
  { session, now }: Tx,
  limit: number,
): Promise<Work<{ readonly purged: number }>> {
  const found = limit === 0 ? [] : await session.all(fill(FIND_PURGEABLE, [now, limit]))
  if (found.length === 0) return { value: { purged: 0 }, rows: 0 }
  const ids = found.map((row) => fill(PURGE.row, [Number(row[FOUND.id])]))
  const purged = await session.runRows(PURGE, ids)
  const entries = found.flatMap(listEntries)
  for (let from = 0; from < entries.length; from += TAGS_AT_ONCE)
    await session.runRows(DELETE_TAGS, entries.slice(from, from + TAGS_AT_ONCE))
  return { value: { purged }, rows: purged }
}

/** Lists the row's entries in the table of the tags. */
function listEntries(row: Row): readonly string[] {
  const tags = row[FOUND.tags]
  if (tags === null || tags === undefined) return []
  const gid = toText(row[FOUND.gid])
  const createdAt = Number(row[FOUND.createdAt])
  return toTagWords(decodeTags(toText(tags))).map((tag) => fill(DELETE_TAGS.row, [tag, createdAt, gid]))
}
