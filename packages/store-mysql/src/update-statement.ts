import { assert, NEVER_AT, type UpdateHold } from '@counterstep/core'
import type { Counted } from './commit-at-once.ts'
import { STATEMENTS } from './generated/sql.ts'
import { withNowMark } from './now-mark.ts'
import type { PendingUpdate } from './pending-writes.ts'
import {
  fill,
  fillRows,
  groupsStatementOf,
  groupsWithin,
  repeated,
  rowsStatementOf,
  statementOf,
  weave,
} from './statement.ts'
import type { UpdateLiterals } from './update-literals.ts'

/** A CASE looks for its row among all that the statement has. */
const STATEMENT_ROWS_MAX = 32

// As update.sql has them.
const HOLD_CODES: Readonly<Record<UpdateHold['type'], number>> = {
  keep: 0,
  release: 1,
  finish: 2,
  command: 3,
}

const { texts, groups: GROUPS } = groupsStatementOf(withNowMark(STATEMENTS.update))
/** Around the groups. */
const TEXTS = texts.map(statementOf)
const [DUE = [], WRITE_ID = [], PROGRESS = [], GID = [], KEY = []] = GROUPS.map(({ row }) => row)
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

function bytesOf({ literals }: PendingUpdate): number {
  return groupRowsOf(literals).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
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
  const code = String(HOLD_CODES[hold])
  const values = [
    [code, code],
    [code, code, String(NEVER_AT), code, code, ...shared],
  ]
  const [before = '', ...behind] = TEXTS.map((chunks, i) => weave(chunks, values[i] ?? []))
  const rows = updates.map(({ literals }) => groupRowsOf(literals))
  let sql = before
  for (const [group, { separator }] of GROUPS.entries()) {
    const texts = rows.map((row) => row[group] ?? '')
    sql += `${repeated(separator, texts)}${behind[group] ?? ''}`
  }
  return sql
}

/** What an update is in each group of its statement. */
function groupRowsOf({ own }: UpdateLiterals): readonly string[] {
  const { gid, due, writeId, progress, token, version } = own
  return [
    weave(DUE, [gid, due]),
    weave(WRITE_ID, [gid, writeId]),
    weave(PROGRESS, [gid, progress]),
    weave(GID, [gid]),
    weave(KEY, [gid, token, version]),
  ]
}
