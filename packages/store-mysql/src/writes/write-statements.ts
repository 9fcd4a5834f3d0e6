import { assert, NEVER_AT, type UpdateHold } from '@counterstep/core'
import { STATEMENTS } from '../generated/sql.ts'
import {
  type Chunks,
  fill,
  fillRows,
  groupsWithin,
  rowsStatementOf,
  statementOf,
  weave,
} from '../sessions/statement.ts'
import type { Counted } from '../transactions/commit-at-once.ts'
import { NOW_SQL, withNowMark } from '../transactions/now-mark.ts'
import type { PendingUpdate } from './pending-writes.ts'
import type { RowLiterals } from './update-literals.ts'

/** A CASE looks for its row among all that the statement has. */
const STATEMENT_ROWS_MAX = 32
/** Around a row's values in the key and in three CASEs. */
const ROW_WORDS_BYTES = 64

const HOLD_MARK = '/*hold*/'
/** `?` is the due: an instant; of a finish the retention. NULL: a command is due now, a finish is never purged. */
const STATEMENT_OF: Readonly<Record<UpdateHold['type'], Chunks>> = {
  keep: withHold(''),
  release: withHold(', due_at = ?, owned = 0'),
  finish: withHold(`, due_at = COALESCE(? + ${NOW_SQL}, ${NEVER_AT}), owned = 0, live = 0`),
  command: withHold(`, due_at = IF(owned = 1, due_at, COALESCE(?, ${NOW_SQL}))`),
}
const LOCK_ROWS = rowsStatementOf(STATEMENTS.lockRows)

/**
 * Few statements for many rows: those that are set to the same share one. Where that would leave the order of the keys,
 * all rows are locked in it before.
 */
export function updateStatements(
  updates: readonly PendingUpdate[],
  bytesMax = Number.POSITIVE_INFINITY,
): readonly Counted[] {
  const alike = new Map<string, PendingUpdate[]>()
  for (const update of updates) {
    const { hold, shared } = update.literals
    const key = `${hold},${shared.join()}`
    const same = alike.get(key)
    if (same === undefined) alike.set(key, [update])
    else same.push(update)
  }
  const statements: Counted[] = []
  for (const same of alike.values()) {
    for (let from = 0; from < same.length; from += STATEMENT_ROWS_MAX) {
      for (const rows of groupsWithin(same.slice(from, from + STATEMENT_ROWS_MAX), bytesOf, bytesMax)) {
        statements.push({ sql: statementFor(rows), changes: rows.length })
      }
    }
  }
  return alike.size > 1 ? [...lockStatements(updates, bytesMax), ...statements] : statements
}

/** The gid stands in each CASE, and twice in the key. */
function bytesOf({ literals: { own } }: PendingUpdate): number {
  const { gid, token, version, due, writeId, progress } = own
  const texts = [gid, gid, gid, gid, gid, token, version, due, writeId, progress]
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), ROW_WORDS_BYTES)
}

function lockStatements(updates: readonly PendingUpdate[], bytesMax: number): readonly Counted[] {
  const rows = updates.map(({ gid }) => fill(LOCK_ROWS.row, [gid]))
  const groups = groupsWithin(rows, (row) => Buffer.byteLength(row), bytesMax)
  return groups.map((group) => ({ sql: fillRows(LOCK_ROWS, group) }))
}

/** Their holds, and what they share, are the same. */
function statementFor(updates: readonly PendingUpdate[]): string {
  const [first] = updates
  assert(first !== undefined, 'a statement for no rows')
  const { hold, shared } = first.literals
  const rows = updates.map(({ literals }) => literals.own)
  const due = hold === 'keep' ? [] : [byRow(rows, 'due')]
  return weave(STATEMENT_OF[hold], [
    ...shared,
    byRow(rows, 'writeId'),
    byRow(rows, 'progress'),
    ...due,
    keysOf(rows),
  ])
}

/** Of each row its own; what is the same for all, as a finish's retention mostly is, once. */
function byRow(rows: readonly RowLiterals[], name: 'due' | 'writeId' | 'progress'): string {
  const [first] = rows
  if (first !== undefined && rows.every((row) => row[name] === first[name])) return first[name]
  let cases = 'CASE gid'
  for (const row of rows) cases += ` WHEN ${row.gid} THEN ${row[name]}`
  return `${cases} END`
}

/** By the gids alone the rows are found. */
function keysOf(rows: readonly RowLiterals[]): string {
  const [first, ...others] = rows
  if (first !== undefined && others.length === 0) {
    return `gid = ${first.gid} AND token = ${first.token} AND version = ${first.version}`
  }
  const gids = rows.map(({ gid }) => gid).join(', ')
  const keys = rows.map(({ gid, token, version }) => `(${gid}, ${token}, ${version})`).join(', ')
  return `gid IN (${gids}) AND (gid, token, version) IN (${keys})`
}

function withHold(sql: string): Chunks {
  return statementOf(withNowMark(STATEMENTS.update.replace(HOLD_MARK, sql)))
}
