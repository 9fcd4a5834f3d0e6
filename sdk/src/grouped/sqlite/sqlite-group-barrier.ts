import { repeatContended } from '../../barrier/repeat-contended.ts'
import type { SqliteDatabase } from '../../barrier/sqlite/sqlite-database.ts'
import { SQLITE_PACE } from '../../barrier/sqlite/sqlite-pace.ts'
import type { SqliteRows } from '../../barrier/sqlite/sqlite-rows.ts'
import type { GroupDoor, GroupVerdict } from '../group-barrier.ts'
import { GroupRolledBack } from '../group-rolled-back.ts'
import { passGroup } from '../pass-group.ts'
import { runStepsNow } from '../steps.ts'
import { verdictsOf } from '../verdicts-of.ts'
import { sqliteGroupTable } from './sqlite-group-table.ts'

/** Begins and ends a transaction of one's own on the connection, and tells what is tried again. */
export interface SqliteTransactions<Database> {
  inOwnTransaction<T>(body: (tx: Database) => T): T
  isContended(error: unknown): boolean
}

/** The `run` of a barrier's door. */
export function runSqliteGroup<Database extends SqliteDatabase>(
  rows: SqliteRows,
  { inOwnTransaction, isContended }: SqliteTransactions<Database>,
): GroupDoor<Database>['run'] {
  return (passes, apply) => {
    const attempt = async (): Promise<readonly GroupVerdict[]> => {
      let isPassed = false
      try {
        return inOwnTransaction((tx) => {
          const work = { apply: (calls: Parameters<typeof apply>[1]) => apply(tx, calls) }
          const verdicts = runStepsNow(passGroup(sqliteGroupTable(rows), passes, work))
          isPassed = true
          return verdicts
        })
      } catch (error: unknown) {
        // A deferred foreign key, which COMMIT checks: it is of some call's effect, as if `apply` had thrown it.
        throw isPassed && isConstraint(error) ? new GroupRolledBack(error) : error
      }
    }
    return verdictsOf(repeatContended(attempt, isContended, SQLITE_PACE))
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
