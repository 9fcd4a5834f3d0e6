import type { SqliteDatabase } from '../../barrier/sqlite/sqlite-database.ts'
import { addGroup } from '../addition/add-group.ts'
import type { Addition, ConditionalAddOptions } from '../addition/addition.ts'
import { type AdditionDialect, createAdditionSql, type SqlValue } from '../addition/addition-sql.ts'
import type { GroupApply } from '../group-barrier.ts'
import { runStepsNow } from '../steps.ts'

const DIALECT: AdditionDialect = {
  quote: '"',
  // The transaction has the only write lock, so the rows need no lock of their own.
  forUpdate: '',
  keyText: (column) => `CAST(${column} AS TEXT)`,
  readKey: (text) => text,
  placeKeyText: place,
  placeKey: place,
  // The value is read as text, because drivers turn integers into numbers, which cannot hold all of them.
  valueText: (column) => `CAST(${column} AS TEXT)`,
  alsoRead: () => '',
  place,
}

/** Writes numbers into the text, because a driver would bind them as real ones. */
function place(value: SqlValue, values: string[]): string {
  if (typeof value !== 'string') return String(value ?? 'NULL')
  values.push(value)
  return '?'
}

/**
 * An `apply` for `groupedBranch` that adds to a column of whole numbers, and lets no action take away what is not
 * there: the calls of a group one after the other, each by what those before it have left.
 *
 * An action that would leave less than `min` fails with `INSUFFICIENT`, one for a row that is not there with
 * `UNKNOWN_ACCOUNT`, one beyond 64 bits with `OUT_OF_RANGE`. A compensation, a cancel and a confirm are always added,
 * and so is every delta above 0. Answers `{ "value": "41" }`, the value after the call. Throws a TypeError at
 * construction for names that are not plain.
 *
 * @example
 * ```ts
 * const transfers = groupedBranch(sqliteGroupBarrier(database), {
 *   key: () => 'transfer',
 *   apply: conditionalAdd({ table: 'account', keyColumn: 'id', valueColumn: 'cents' }),
 * })
 * const call = { gid: 'transfer-1', branchId: '01', op: 'action' } as const
 * const answer = await withBarrier(transfers, call, () => ({ id: 'alice', delta: -1_250 }))
 * ```
 */
export function conditionalAdd<Entry extends Addition = Addition>(
  options: ConditionalAddOptions<Entry>,
): GroupApply<SqliteDatabase, Entry> {
  const sql = createAdditionSql(DIALECT, options)
  return function conditionalAdd(database, calls) {
    const session = {
      select: (text: string, values: string[]) => ({
        rows: database
          .prepare(text)
          .all(...values)
          .map(toTexts),
      }),
      execute: (text: string, values: string[]) => Number(database.prepare(text).run(...values).changes),
    }
    return runStepsNow(addGroup(session, sql, calls, options.log))
  }
}

function toTexts(row: unknown): readonly (string | null)[] {
  // The columns are named in the statement.
  const { key, value } = row as { readonly key: string | null; readonly value: string | null }
  return [key, value]
}
