import { assert, NEVER_AT, type UpdateHold } from '@counterstep/core'
import { STATEMENTS } from '../generated/sql.ts'
import {
  type Chunks,
  fill,
  fillRows,
  groupRows,
  parseRowsStatement,
  parseStatement,
  weave,
} from '../sessions/statement.ts'
import { type CountedStatement, NOW_SQL, withNowMark } from '../transactions/transaction-protocol.ts'
import {
  CREATE,
  CREATE_NAMED,
  ENTER_TAGS,
  measureRow,
  type OwnColumn,
  type PendingCreate,
  type PendingUpdate,
  type RowLiterals,
} from './pending-writes.ts'

/** A CASE searches its row among all rows of the statement, so its cost grows with their square. */
const STATEMENT_ROWS_MAX = 32
/** The bytes around a row's values in the key and in six CASEs. */
const ROW_WORDS_BYTES = 100

const HOLD_MARK = '/*hold*/'
/** The value `?` is a timestamp, or the retention of a finish. NULL means that a command is due now and a finish is never purged. */
const BY_HOLD: Readonly<Record<UpdateHold['type'], Chunks>> = {
  keep: withHold(''),
  release: withHold(', due_at = ?, owned = 0'),
  finish: withHold(`, due_at = COALESCE(? + ${NOW_SQL}, ${NEVER_AT}), owned = 0, live = 0`),
  command: withHold(`, due_at = IF(owned = 1, due_at, COALESCE(?, ${NOW_SQL}))`),
}
const TROUBLE = ['problem', 'attempts', 'marks'] as const
/** The same for rows that wait for nothing. */
const NO_TROUBLE = ['NULL', '0', '0'] as const
const LOCK_ROWS = parseRowsStatement(STATEMENTS.lockRows)

/** Writes the values of the row with those of the two more columns behind them. */
function writeNamedRow({ sql, names = 'NULL, NULL' }: PendingCreate): string {
  return `${sql.slice(0, sql.lastIndexOf(')'))}, ${names})`
}

/** Writes one insert of all rows, or as few as `bytesMax` allows. */
export function writeInserts(
  creates: readonly PendingCreate[],
  bytesMax = Number.POSITIVE_INFINITY,
): readonly string[] {
  const isNamed = creates.some(({ names }) => names !== undefined)
  const rows = creates.map(isNamed ? writeNamedRow : ({ sql }) => sql)
  const statement = isNamed ? CREATE_NAMED : CREATE
  return groupRows(rows, (row) => Buffer.byteLength(row), bytesMax).map((group) => fillRows(statement, group))
}

/** Writes one insert of the tags of all rows, or as few as `bytesMax` allows, and none if no row has tags. */
export function writeTagInserts(
  creates: readonly PendingCreate[],
  bytesMax = Number.POSITIVE_INFINITY,
): readonly string[] {
  const entries = creates.flatMap((create) => create.entries)
  if (entries.length === 0) return []
  const groups = groupRows(entries, (entry) => Buffer.byteLength(entry), bytesMax)
  return groups.map((group) => fillRows(ENTER_TAGS, group))
}

/**
 * Writes few statements for many rows: rows that are set to the same values share one. Several statements do not follow
 * the order of the keys, so a statement before them locks all rows in that order.
 */
export function writeUpdates(
  updates: readonly PendingUpdate[],
  bytesMax = Number.POSITIVE_INFINITY,
): readonly CountedStatement[] {
  const alike = new Map<string, PendingUpdate[]>()
  for (const update of updates) {
    const { hold, shared, isTroubled } = update.literals
    const key = `${hold},${shared.join()},${isTroubled}`
    const same = alike.get(key)
    if (same === undefined) alike.set(key, [update])
    else same.push(update)
  }
  const statements: CountedStatement[] = []
  for (const same of alike.values()) {
    for (let from = 0; from < same.length; from += STATEMENT_ROWS_MAX) {
      for (const rows of groupRows(same.slice(from, from + STATEMENT_ROWS_MAX), countBytes, bytesMax)) {
        statements.push({ sql: writeUpdate(rows), changes: rows.length })
      }
    }
  }
  return alike.size > 1 ? [...writeLocks(updates, bytesMax), ...statements] : statements
}

function countBytes({ literals }: PendingUpdate): number {
  return ROW_WORDS_BYTES + measureRow(literals, Buffer.byteLength)
}

function writeLocks(updates: readonly PendingUpdate[], bytesMax: number): readonly CountedStatement[] {
  const rows = updates.map(({ gid }) => fill(LOCK_ROWS.row, [gid]))
  const groups = groupRows(rows, (row) => Buffer.byteLength(row), bytesMax)
  return groups.map((group) => ({ sql: fillRows(LOCK_ROWS, group) }))
}

/** The holds and the shared values of all rows are the same. */
function writeUpdate(updates: readonly PendingUpdate[]): string {
  const [first] = updates
  assert(first !== undefined, 'a statement for no rows')
  const { hold, shared } = first.literals
  const rows = updates.map(({ literals }) => literals.own)
  const due = hold === 'keep' ? [] : [writeByRow(rows, 'due')]
  return weave(BY_HOLD[hold], [
    ...shared,
    writeByRow(rows, 'writeId'),
    writeByRow(rows, 'progress'),
    ...(first.literals.isTroubled ? TROUBLE.map((name) => writeByRow(rows, name)) : NO_TROUBLE),
    ...due,
    writeKeys(rows),
  ])
}

/** Writes each row's own value, or one value if it is the same for all rows, as the retention of a finish mostly is. */
function writeByRow(rows: readonly RowLiterals[], name: OwnColumn): string {
  const [first] = rows
  if (first !== undefined && rows.every((row) => row[name] === first[name])) return first[name]
  let cases = 'CASE gid'
  for (const row of rows) cases += ` WHEN ${row.gid} THEN ${row[name]}`
  return `${cases} END`
}

/** The gids stand in a list of their own, because the server finds the rows by that list. */
function writeKeys(rows: readonly RowLiterals[]): string {
  const [first, ...others] = rows
  if (first !== undefined && others.length === 0) {
    return `gid = ${first.gid} AND token = ${first.token} AND version = ${first.version}`
  }
  const gids = rows.map(({ gid }) => gid).join(', ')
  const keys = rows.map(({ gid, token, version }) => `(${gid}, ${token}, ${version})`).join(', ')
  return `gid IN (${gids}) AND (gid, token, version) IN (${keys})`
}

function withHold(sql: string): Chunks {
  return parseStatement(withNowMark(STATEMENTS.update.replace(HOLD_MARK, sql)))
}
