import { NEVER_AT, type TransactionUpdate, type UpdateHold } from '@counterstep/core'
import type { Counted } from './commit-at-once.ts'
import { STATEMENTS } from './generated/sql.ts'
import type { Value } from './literal.ts'
import { PACKETS } from './packets.ts'
import type { PendingUpdate } from './pending-writes.ts'
import { SENT_LIST_CODES, STATUS_CODES } from './row-codes.ts'
import {
  type Chunks,
  fill,
  fillFrom,
  fillRows,
  groupsStatementOf,
  groupsWithin,
  repeated,
  rowsStatementOf,
  statementOf,
} from './statement.ts'

/** A CASE looks for its row among all that the statement has. */
const STATEMENT_ROWS_MAX = 32

/** What an update is in its statement: the texts are the same for all rows of one statement. */
export interface UpdateParts {
  readonly texts: readonly string[]
  /** One for each group of the statement. */
  readonly row: readonly string[]
}

// As update.sql has them.
const HOLD_CODES: Readonly<Record<UpdateHold['type'], number>> = {
  keep: 0,
  release: 1,
  finish: 2,
  command: 3,
}

const { texts: TEXTS, groups: GROUPS } = groupsStatementOf(STATEMENTS.update)
const [DUE, WRITE_ID, PROGRESS, GID, KEY] = GROUPS.map(({ row }) => row)
const LOCK_ROWS = rowsStatementOf(STATEMENTS.lockRows)

/** What stands around the groups, with `nowText` for the instant. */
export function updateTexts(nowText: string): readonly Chunks[] {
  return TEXTS.map((text) => statementOf(text.replaceAll(PACKETS.nowText, nowText)))
}

/** Throws an `AssertionError` for a value that no statement can carry. */
export function updateParts(update: TransactionUpdate, around: readonly Chunks[]): UpdateParts {
  const { gid, token, version, writeId, progress, hold } = update
  return {
    texts: textsOf(update, around),
    row: [
      fillFrom(DUE ?? [], 0, [gid, dueOf(hold)]),
      fillFrom(WRITE_ID ?? [], 0, [gid, writeId]),
      fillFrom(PROGRESS ?? [], 0, [gid, progress]),
      fillFrom(GID ?? [], 0, [gid]),
      fillFrom(KEY ?? [], 0, [gid, token, version]),
    ],
  }
}

/** Around the groups. */
function textsOf(
  { hold, status, format, retrying, attention, sentList }: TransactionUpdate,
  around: readonly Chunks[],
): readonly string[] {
  const code = HOLD_CODES[hold.type]
  const values: readonly (readonly Value[])[] = [
    [code, code],
    [
      code,
      code,
      NEVER_AT,
      code,
      code,
      STATUS_CODES[status],
      format,
      retrying ? 1 : 0,
      attention ? 1 : 0,
      sentList === undefined ? null : SENT_LIST_CODES[sentList],
    ],
  ]
  return around.map((chunks, i) => fill(chunks, values[i] ?? []))
}

function dueOf(hold: UpdateHold): number | null {
  switch (hold.type) {
    case 'keep':
      return null
    case 'release':
      return hold.dueAt
    case 'finish':
      return hold.retentionMs === 'never' ? null : hold.retentionMs
    case 'command':
      return hold.dueAt ?? null
  }
}

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
    const key = update.parts.texts.join('')
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

function bytesOf({ parts }: PendingUpdate): number {
  return parts.row.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

function lockStatements(updates: readonly PendingUpdate[], bytesMax: number): readonly Counted[] {
  const rows = updates.map(({ gid }) => fillFrom(LOCK_ROWS.row, 0, [gid]))
  const groups = groupsWithin(rows, (row) => Buffer.byteLength(row), bytesMax)
  return groups.map((group) => ({ sql: fillRows(LOCK_ROWS, group) }))
}

function statementFor(updates: readonly PendingUpdate[]): string {
  const [before = '', ...behind] = updates[0]?.parts.texts ?? []
  let sql = before
  for (const [group, { separator }] of GROUPS.entries()) {
    const rows = updates.map(({ parts }) => parts.row[group] ?? '')
    sql += `${repeated(separator, rows)}${behind[group] ?? ''}`
  }
  return sql
}
