import { NEVER_AT, type TransactionUpdate, type UpdateHold } from '@counterstep/core'
import { STATEMENTS } from './generated/sql.ts'
import type { PendingUpdate } from './pending-writes.ts'
import { SENT_LIST_CODES, STATUS_CODES } from './row-codes.ts'
import { fill, fillFrom, groupsStatementOf, repeated, statementOf } from './statement.ts'

/** A CASE looks for its row among all that the statement has. */
const STATEMENT_ROWS_MAX = 32

/** What an update is in its statement: the head is the same for all rows of one statement. */
export interface UpdateParts {
  readonly head: string
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

const [HEAD = '', ...BETWEEN] = groupsStatementOf(STATEMENTS.update).texts
const HEAD_CHUNKS = statementOf(HEAD)
const GROUPS = groupsStatementOf(STATEMENTS.update).groups
const [WRITE_ID, PROGRESS, GID, KEY] = GROUPS.map(({ row }) => row)

/** Throws an `AssertionError` for a value that no statement can carry. */
export function updateParts(update: TransactionUpdate): UpdateParts {
  const { gid, token, version, writeId, progress } = update
  return {
    head: headOf(update),
    row: [
      fillFrom(WRITE_ID ?? [], 0, [gid, writeId]),
      fillFrom(PROGRESS ?? [], 0, [gid, progress]),
      fillFrom(GID ?? [], 0, [gid]),
      fillFrom(KEY ?? [], 0, [gid, token, version]),
    ],
  }
}

function headOf({ hold, status, format, retrying, attention, sentList }: TransactionUpdate): string {
  const code = HOLD_CODES[hold.type]
  const due = dueOf(hold)
  return fill(HEAD_CHUNKS, [
    code,
    due,
    due,
    NEVER_AT,
    due,
    code,
    code,
    STATUS_CODES[status],
    format,
    retrying ? 1 : 0,
    attention ? 1 : 0,
    sentList === undefined ? null : SENT_LIST_CODES[sentList],
  ])
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

/** Few statements for many rows: those that are set to the same share one. */
export function updateStatements(updates: readonly PendingUpdate[]): readonly string[] {
  const byHead = new Map<string, PendingUpdate[]>()
  for (const update of updates) {
    const same = byHead.get(update.parts.head)
    if (same === undefined) byHead.set(update.parts.head, [update])
    else same.push(update)
  }
  const statements: string[] = []
  for (const [head, same] of byHead) {
    for (let from = 0; from < same.length; from += STATEMENT_ROWS_MAX) {
      statements.push(statementFor(head, same.slice(from, from + STATEMENT_ROWS_MAX)))
    }
  }
  return statements
}

function statementFor(head: string, updates: readonly PendingUpdate[]): string {
  let sql = head
  for (const [group, { separator }] of GROUPS.entries()) {
    sql += repeated(
      separator,
      updates.map(({ parts }) => parts.row[group] ?? ''),
    )
    sql += BETWEEN[group] ?? ''
  }
  return sql
}
