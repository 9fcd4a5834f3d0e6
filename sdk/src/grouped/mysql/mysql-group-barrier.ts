import { deadlineIn } from '../../barrier/deadline.ts'
import {
  isContended,
  type MysqlConnection,
  type MysqlPool,
  type MysqlPoolConnection,
} from '../../barrier/mysql/mysql-connection.ts'
import { inTransaction } from '../../barrier/mysql/mysql-transaction.ts'
import { repeatContended } from '../../barrier/repeat-contended.ts'
import type { GroupDoor, GroupVerdict } from '../group-barrier.ts'
import { isLockedOut, lockedOut } from '../lock-wait.ts'
import { passGroup } from '../pass-group.ts'
import { planOf } from '../planned-apply.ts'
import { runSteps } from '../steps.ts'
import { verdictsOf } from '../verdicts-of.ts'
import { type GroupHabit, mysqlGroupTable } from './mysql-group-table.ts'
import { hasWaitedInVain, lockWaitsOf } from './mysql-lock-waits.ts'

/** The `run` of a barrier's door. `table` is quoted already. */
export function runMysqlGroup<Connection extends MysqlPoolConnection>(
  pool: MysqlPool<Connection>,
  table: string,
  timeoutMs: number,
): GroupDoor<Connection>['run'] {
  const habit: GroupHabit = { hadDuplicates: false, plansAgainAt: 0 }
  return (passes, apply) => {
    const deadline = deadlineIn(timeoutMs)
    const plan = planOf(apply)
    const pass = async (handle: Connection, own: MysqlConnection): Promise<readonly GroupVerdict[]> => {
      const lockWaits = lockWaitsOf(own)
      const rows = mysqlGroupTable(own, table, lockWaits, habit)
      const work = {
        deadline,
        apply: (calls: Parameters<typeof apply>[1]) => apply(handle, calls),
        plan: plan && ((calls: Parameters<typeof apply>[1]) => plan(handle, calls)),
      }
      try {
        const verdicts = await runSteps(passGroup(rows, passes, work))
        await lockWaits.restore()
        return verdicts
      } catch (error: unknown) {
        // Nobody else gets a connection whose setting is not as it was.
        await lockWaits.restore().catch(() => handle.destroy())
        throw error
      }
    }
    const attempt = async (): Promise<readonly GroupVerdict[]> => {
      try {
        return await inTransaction(pool, deadline, pass)
      } catch (error: unknown) {
        throw hasWaitedInVain(error) ? lockedOut(error) : error
      }
    }
    const isRepeated = (error: unknown): boolean => isContended(error) && !isLockedOut(error)
    return verdictsOf(repeatContended(attempt, isRepeated))
  }
}
