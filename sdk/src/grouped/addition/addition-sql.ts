import { parseTableName, quoteTable } from '../../barrier/table-name.ts'
import type { Awaitable } from '../steps.ts'
import { type Addition, type ConditionalAddOptions, toWholeNumber } from './addition.ts'
import type { ColumnType } from './column-type.ts'

export type SqlValue = string | number | bigint | null

/** These are the statements of one group on one database. Rows come as texts, in the order of the columns. */
export interface AdditionSession {
  select(text: string, values: SqlText['values']): Awaitable<FoundRows>
  /** Resolves with how many rows it changed. */
  execute(text: string, values: SqlText['values']): Awaitable<number>
}

export interface FoundRows {
  readonly rows: readonly (readonly (string | null)[])[]
  /**
   * Says how many bytes every key has, if the column pads keys when it stores them and finds them only with the
   * padding.
   */
  readonly keyBytes?: number | undefined
  /** Tells which keys there may be. Absent: the driver does not tell of what type the key column is, or the type holds all texts. */
  readonly column?: ColumnType | undefined
  /** Tells which sums there may be. Absent: the driver does not tell of what type the value column is, or it holds all of 64 bits. */
  readonly valueColumn?: ColumnType | undefined
}

/** This is the SQL that differs between the databases. */
export interface AdditionDialect {
  readonly quote: '`' | '"'
  readonly forUpdate: string
  /** Writes the expression that reads a key as text without changing a letter. `placeKeyText` is the reverse. */
  keyText(column: string): string
  readKey(text: string): string
  /** Writes the value that `keyText` has in the row with this id. */
  placeKeyText(id: string, values: string[]): string
  /**
   * Writes a condition value that finds the row by the column's index. The condition may find other rows, too: keys
   * that are equal under a collation, or numbers that are near.
   */
  placeKey(id: Addition['id'], values: string[]): string
  valueText(column: string): string
  /** Lists further columns that the session needs of each row. The text begins with a comma, and may end with value and key, to learn their types. */
  alsoRead(value: string, key: string): string
  /** Returns a placeholder for the value, which is then added to `values`, or returns a literal. */
  place(value: SqlValue, values: string[]): string
}

export interface SqlText {
  readonly text: string
  readonly values: string[]
}

/** Builds the three statements of one group. */
export interface AdditionSql {
  /** Selects key and value of the rows, and locks them in the order of the key. */
  select(ids: readonly Addition['id'][]): SqlText
  /** Selects no row, to learn the type of the key. */
  selectNone(): SqlText
  update(changes: readonly { readonly id: Addition['id']; readonly value: bigint }[]): SqlText
  insertLog(rows: readonly (readonly SqlValue[])[]): SqlText
  readonly min: bigint | undefined
  readonly readKey: (text: string) => string
  /** The key column as it was last seen. It may be undefined when it has been seen. */
  readonly memory: { column?: ColumnType | undefined; isKnown?: true }
}

const COLUMN = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/
// SQLite takes 32,766 values in one statement, and a group has 1,000 calls.
const LOG_COLUMNS_MAX = 32

/** Names go into the SQL as text, so only plain ones are allowed. Throws a TypeError at construction for any other. */
export function createAdditionSql<Entry extends Addition>(
  dialect: AdditionDialect,
  { table, keyColumn = 'id', valueColumn, min = 0, log }: ConditionalAddOptions<Entry>,
): AdditionSql {
  const { quote, place } = dialect
  const name = quoteTable(parseTableName(table), quote)
  const key = quoteColumn(keyColumn, quote)
  const value = quoteColumn(valueColumn, quote)
  const logInto = log === undefined ? '' : toLogTarget(log, quote)
  return {
    min: checkMin(min),
    readKey: dialect.readKey,
    select: (ids) => {
      const values: string[] = []
      const text = `SELECT ${dialect.keyText(key)} AS ${quote}key${quote}, ${dialect.valueText(value)} AS value${dialect.alsoRead(value, key)}
        FROM ${name} WHERE ${key} IN (${ids.map((id) => dialect.placeKey(id, values)).join()})
        ORDER BY ${name}.${key}${dialect.forUpdate}`
      return { text, values }
    },
    selectNone: () => ({ text: `SELECT ${key} FROM ${name} LIMIT 0`, values: [] }),
    memory: {},
    // The rows are locked, so the values that were read still stand. The new value is set and not added, because a sum
    // could overflow in between.
    update: (changes) => {
      const values: string[] = []
      const keyText = dialect.keyText(key)
      const placeKeyText = ({ id }: { readonly id: Addition['id'] }) =>
        dialect.placeKeyText(String(id), values)
      const cases = changes.map((each) => `WHEN ${placeKeyText(each)} THEN ${String(each.value)}`)
      const ids = changes.map((each) => dialect.placeKey(each.id, values))
      const keyTexts = changes.map(placeKeyText)
      // The key is compared as text: MySQL compares numbers with texts as doubles, and two neighbouring large keys
      // may be one double.
      const text = `UPDATE ${name} SET ${value} = CASE ${keyText} ${cases.join(' ')} END
        WHERE ${key} IN (${ids.join()}) AND ${keyText} IN (${keyTexts.join()})`
      return { text, values }
    },
    insertLog: (rows) => {
      const values: string[] = []
      const tuples = rows.map((row) => `(${row.map((each) => place(each, values)).join()})`)
      return { text: `INSERT INTO ${logInto} VALUES ${tuples.join()}`, values }
    },
  }
}

function toLogTarget(
  { table, columns }: { readonly table: string; readonly columns: readonly string[] },
  quote: '`' | '"',
): string {
  if (columns.length === 0 || columns.length > LOG_COLUMNS_MAX) {
    throw new TypeError(`log.columns must be 1 to ${LOG_COLUMNS_MAX} names`)
  }
  return `${quoteTable(parseTableName(table), quote)} (${columns.map((each) => quoteColumn(each, quote)).join()})`
}

function quoteColumn(name: string, quote: '`' | '"'): string {
  if (typeof name === 'string' && COLUMN.test(name)) return `${quote}${name}${quote}`
  throw new TypeError('a column must be a plain name of at most 63 letters, digits and _')
}

function checkMin(min: unknown): bigint | undefined {
  if (min === null) return undefined
  const whole = toWholeNumber(min)
  if (whole === undefined) throw new TypeError('min must be a whole number of 64 bits, or null')
  return whole
}
