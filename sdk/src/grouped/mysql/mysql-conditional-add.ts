import { execute, type MysqlConnection, select } from '../../barrier/mysql/mysql-connection.ts'
import { addGroup, planAdditions, writeAdditions } from '../addition/add-group.ts'
import type { Addition, ConditionalAddOptions } from '../addition/addition.ts'
import { type AdditionDialect, type AdditionSession, createAdditionSql } from '../addition/addition-sql.ts'
import type { GroupApply } from '../group-barrier.ts'
import { registerPlan } from '../planned-apply.ts'
import { runSteps } from '../steps.ts'
import { readColumnTypes } from './mysql-column-types.ts'
import { hex } from './mysql-literals.ts'

const DIALECT: AdditionDialect = {
  quote: '`',
  forUpdate: ' FOR UPDATE',
  // The key is read in hexadecimal digits, since the connection's charset might lack some of its letters.
  keyText: (column) => `HEX(CONVERT(${column} USING utf8mb4))`,
  readKey: (text) => Buffer.from(text, 'hex').toString('utf8'),
  placeKeyText: (id) => `'${Buffer.from(id).toString('hex').toUpperCase()}'`,
  // All ids are written as texts. MySQL uses no index for a list that mixes texts and numbers, or for a number that
  // is compared with a column of text.
  placeKey: (id) => asText(String(id)),
  // The value is read as text, because mysql2 turns integers into numbers, which cannot hold all of them.
  valueText: (column) => `CAST(${column} AS CHAR)`,
  // Value and key themselves are selected to learn their types, which the server sends even if there is no row.
  alsoRead: (value, key) => `, @@sql_mode, ${value}, ${key}`,
  place: (value) => (typeof value === 'string' ? asText(value) : String(value ?? 'NULL')),
}

/** A hexadecimal literal with its charset named is text, and is compared by the column's collation and index. */
function asText(text: string): string {
  return `_utf8mb4 ${hex(text)}`
}

const STRICT = /\bSTRICT_(TRANS|ALL)_TABLES\b/

type Rows = Awaited<ReturnType<typeof select>>

/** Without a strict mode, if the column cannot hold a value, the server stores another value and only warns. */
function assertStrict(rows: Rows): Rows {
  const mode = rows[0]?.[2]
  if (mode === undefined || STRICT.test(mode ?? '')) return rows
  throw new Error('conditionalAdd needs a strict sql_mode on its connections: STRICT_TRANS_TABLES')
}

/**
 * An `apply` for `groupedBranch` that adds to a column of whole numbers, and lets no action take away what is not
 * there: the calls of a group one after the other, each by what those before it have left. The rows are locked in the
 * order of their key, and written by one statement; the log by another.
 *
 * An action that would leave less than `min` fails with `INSUFFICIENT`, one for a row that is not there with
 * `UNKNOWN_ACCOUNT`, also if the key column's type cannot hold its id, one beyond 64 bits, or beyond a narrower column, with `OUT_OF_RANGE`. A compensation, a cancel and a confirm are always added,
 * and so is every delta above 0. Answers `{ "value": "41" }`, the value after the call. A value that a column of another
 * type cannot hold is the database's own error, which it gives only in a strict `sql_mode`, so another mode is an error, too. An id that is shorter or longer than a key
 * column of BINARY(n) is also an error, because such a column pads its keys: use VARBINARY. Throws a TypeError at
 * construction for names that are not plain.
 *
 * @example
 * ```ts
 * const transfers = groupedBranch(mysqlGroupBarrier(pool), {
 *   key: () => 'transfer',
 *   apply: conditionalAdd({ table: 'account', keyColumn: 'id', valueColumn: 'cents' }),
 * })
 * const call = { gid: 'transfer-1', branchId: '01', op: 'action' } as const
 * const answer = await withBarrier(transfers, call, () => ({ id: 'alice', delta: -1_250 }))
 * ```
 */
export function conditionalAdd<Entry extends Addition = Addition>(
  options: ConditionalAddOptions<Entry>,
): GroupApply<MysqlConnection, Entry> {
  const sql = createAdditionSql(DIALECT, options)
  return registerPlan(
    function conditionalAdd(connection, calls) {
      return runSteps(addGroup(openSession(connection), sql, calls, options.log))
    },
    async (connection, calls) => {
      const session = openSession(connection)
      const plan = await runSteps(planAdditions(session, sql, calls, options.log))
      return { results: plan.results, write: () => runSteps(writeAdditions(session, sql, plan)) }
    },
  )
}

function openSession(connection: MysqlConnection): AdditionSession {
  return {
    select: async (text) => {
      let fields: unknown
      const watched: MysqlConnection = {
        query: async (statement) => {
          const answer = await connection.query(statement)
          fields = answer[1]
          return answer
        },
      }
      const rows = assertStrict(await select(watched, text))
      return { rows, ...readColumnTypes(fields) }
    },
    execute: async (text) => (await execute(connection, text)).affectedRows,
  }
}
