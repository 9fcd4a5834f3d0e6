import { assert, type DuePostponement, type DuePostponementResult, PARKED_AT } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { toText } from '@counterstep/store-sql'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import { fill, parseRowsStatement, parseStatement } from '../sessions/statement.ts'
import type { Tx, Work } from '../transactions/transaction-protocol.ts'

const FIND_POSTPONABLE = parseStatement(STATEMENTS.findPostponable)
const ROW = COLUMNS.findPostponable
const POSTPONE = parseRowsStatement(STATEMENTS.postpone)

/** Skips rows that another transaction has locked. Two callers at once each get other rows, and neither waits. */
export async function postponeDue(
  { session, now }: Tx,
  { limit, byMs, formatMax }: DuePostponement,
): Promise<Work<DuePostponementResult>> {
  const until = Math.min(now, PARKED_AT - 1)
  const found = limit === 0 ? [] : await session.all(fill(FIND_POSTPONABLE, [until, formatMax, limit]))
  if (found.length === 0) return { value: { now, gids: [] }, rows: 0 }
  const ids = found.map((row) => fill(POSTPONE.row, [Number(row[ROW.id])]))
  const changed = await session.runRows(POSTPONE, ids, [now + byMs])
  assert(changed === found.length, `of ${found.length} locked rows ${changed} have been postponed`)
  return { value: { now, gids: found.map((row) => toText(row[ROW.gid]) as Gid) }, rows: found.length }
}
