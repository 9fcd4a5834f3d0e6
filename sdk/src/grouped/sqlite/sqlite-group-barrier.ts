import type { BarrierOptions } from '../../barrier/barrier.ts'
import { repeatContended } from '../../barrier/repeat-contended.ts'
import { checkRetentionMs } from '../../barrier/retention.ts'
import { type SqliteBarrier, sqliteBarrier } from '../../barrier/sqlite/sqlite-barrier.ts'
import type { SqliteDatabase } from '../../barrier/sqlite/sqlite-database.ts'
import { createSqliteRows } from '../../barrier/sqlite/sqlite-rows.ts'
import { inOwnTransaction, isBusyOrTaken, SQLITE_PACE } from '../../barrier/sqlite/sqlite-transaction.ts'
import { parseTableName, quoteTable } from '../../barrier/table-name.ts'
import { admitCall } from '../admit-call.ts'
import type { GroupBarrier, GroupRunner, GroupVerdict } from '../group-barrier.ts'
import { GroupRolledBack } from '../group-rolled-back.ts'
import { passGroup, readVerdicts } from '../pass-group.ts'
import { runStepsNow } from '../steps.ts'
import { createSqliteGroupTable } from './sqlite-group-table.ts'

/**
 * A `sqliteBarrier` that can also pass several calls in one database transaction: give it to `groupedBranch`. It takes
 * the same database and options, and behaves like a `sqliteBarrier` for every call that does not come through a group.
 *
 * @example
 * ```ts
 * const transfers = groupedBranch(sqliteGroupBarrier(database), {
 *   key: () => 'transfer',
 *   apply: conditionalAdd({ table: 'account', valueColumn: 'cents' }),
 * })
 * ```
 */
export function sqliteGroupBarrier<Database extends SqliteDatabase>(
  database: Database,
  options: BarrierOptions = {},
): GroupBarrier<Database> & SqliteBarrier<Database> {
  const barrier = sqliteBarrier(database, options)
  const { now = Date.now } = options
  const retentionMs = checkRetentionMs(options.retentionMs)
  const table = quoteTable(parseTableName(options.table), '"')
  return {
    ...barrier,
    groupRunner: {
      admit: (call) => admitCall(call, retentionMs, now()),
      run: createSqliteGroupRun(database, table),
    },
  }
}

/** Makes the `run` of a group runner. `table` is quoted already. */
function createSqliteGroupRun<Database extends SqliteDatabase>(
  database: Database,
  table: string,
): GroupRunner<Database>['run'] {
  const rows = createSqliteRows(database, table)
  return (passes, apply) => {
    const attempt = async (): Promise<readonly GroupVerdict[]> => {
      let isPassed = false
      try {
        return inOwnTransaction(database, (lend) => {
          const work = {
            apply: (calls: Parameters<typeof apply>[1]) => lend((handle) => apply(handle, calls)),
          }
          const verdicts = runStepsNow(passGroup(createSqliteGroupTable(rows), passes, work))
          isPassed = true
          return verdicts
        })
      } catch (error: unknown) {
        // COMMIT checks deferred foreign keys. A violation comes from some call's effect, so it counts as if `apply`
        // had thrown it.
        throw isPassed && isConstraint(error) ? new GroupRolledBack(error) : error
      }
    }
    return readVerdicts(repeatContended(attempt, isBusyOrTaken, SQLITE_PACE))
  }
}

const SQLITE_CONSTRAINT = 19

/** The low byte of an extended code is the primary one. */
function isConstraint(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error && typeof error.errcode === 'number')
    return (error.errcode & 0xff) === SQLITE_CONSTRAINT
  return 'code' in error && String(error.code).startsWith('SQLITE_CONSTRAINT')
}
