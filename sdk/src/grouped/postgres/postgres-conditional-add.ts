import { execute, type PostgresClient, selectWithFields } from '../../barrier/postgres/postgres-client.ts'
import { addGroup } from '../addition/add-group.ts'
import type { Addition, ConditionalAddOptions } from '../addition/addition.ts'
import { type AdditionDialect, createAdditionSql } from '../addition/addition-sql.ts'
import type { GroupApply } from '../group-barrier.ts'
import { runSteps } from '../steps.ts'
import { readKeyColumn, readValueColumn } from './postgres-column-types.ts'

const DIALECT: AdditionDialect = {
  quote: '"',
  forUpdate: ' FOR UPDATE',
  keyText: (column) => `${column}::text`,
  readKey: (text) => text,
  placeKeyText: placeText,
  placeKey: placeText,
  valueText: (column) => `${column}::text`,
  // Value and key themselves are selected to learn their types, which the server sends even if there is no row.
  alsoRead: (value, key) => `, ${value}, ${key}`,
  place: (value, values) => (value === null ? 'NULL' : placeText(value, values)),
}

/**
 * Writes a placeholder without a type: PostgreSQL gives it the type of the column that it is compared with or stored
 * in.
 */
function placeText(value: string | number | bigint, values: string[]): string {
  return `$${values.push(String(value))}`
}

/**
 * An `apply` for `groupedBranch` that adds to a column of whole numbers, and lets no action take away what is not
 * there: the calls of a group one after the other, each by what those before it have left. The rows are locked in the
 * order of their key, and written by one statement; the log by another.
 *
 * An action that would leave less than `min` fails with `INSUFFICIENT`, one for a row that is not there with
 * `UNKNOWN_ACCOUNT`, also if the key column is of whole numbers, numeric, text or uuid and cannot hold its id, one
 * beyond 64 bits, or beyond a narrower value column, with `OUT_OF_RANGE`. A compensation, a cancel and a confirm are always added,
 * and so is every delta above 0. Answers `{ "value": "41" }`, the value after the call. An id that a key column of
 * another type cannot hold gives the database's own error, which is tried again and takes its group apart: let `parse`
 * refuse it. Throws a TypeError at
 * construction for names that are not plain.
 *
 * @example
 * ```ts
 * const transfers = groupedBranch(postgresGroupBarrier(pool), {
 *   key: () => 'transfer',
 *   apply: conditionalAdd({ table: 'account', keyColumn: 'id', valueColumn: 'cents' }),
 * })
 * const call = { gid: 'transfer-1', branchId: '01', op: 'action' } as const
 * const answer = await withBarrier(transfers, call, () => ({ id: 'alice', delta: -1_250 }))
 * ```
 */
export function conditionalAdd<Entry extends Addition = Addition>(
  options: ConditionalAddOptions<Entry>,
): GroupApply<PostgresClient, Entry> {
  const sql = createAdditionSql(DIALECT, options)
  return function conditionalAdd(client, calls) {
    const session = {
      select: async (text: string, values: string[]) => {
        const { rows, fields } = await selectWithFields(client, text, values)
        return { rows, column: readKeyColumn(fields), valueColumn: readValueColumn(fields) }
      },
      execute: async (text: string, values: string[]) => (await execute(client, text, values)).rowCount ?? 0,
    }
    return runSteps(addGroup(session, sql, calls, options.log))
  }
}
