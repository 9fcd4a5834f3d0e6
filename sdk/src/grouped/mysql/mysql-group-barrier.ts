import { checkTimeoutMs, type PooledBarrierOptions, startDeadline } from '../../barrier/deadline.ts'
import type { Lend } from '../../barrier/lend.ts'
import type { MessageBarrier } from '../../barrier/message-barrier.ts'
import { mysqlBarrier } from '../../barrier/mysql/mysql-barrier.ts'
import {
  isContended,
  type MysqlPool,
  type MysqlPoolConnection,
} from '../../barrier/mysql/mysql-connection.ts'
import { inTransaction } from '../../barrier/mysql/mysql-transaction.ts'
import { repeatContended } from '../../barrier/repeat-contended.ts'
import { checkRetentionMs } from '../../barrier/retention.ts'
import { parseTableName, quoteTable } from '../../barrier/table-name.ts'
import { admitCall } from '../admit-call.ts'
import type { GroupBarrier, GroupRunner, GroupVerdict } from '../group-barrier.ts'
import { unwrapLost } from '../group-rolled-back.ts'
import { joinSignals } from '../join-signals.ts'
import { asLockedOut, isLockedOut } from '../lock-wait.ts'
import { passGroup, readVerdicts } from '../pass-group.ts'
import { findPlan } from '../planned-apply.ts'
import { runSteps } from '../steps.ts'
import { createMysqlGroupTable, type GroupHistory } from './mysql-group-table.ts'
import { createLockWaits, hasWaitedInVain } from './mysql-lock-waits.ts'

/**
 * A `mysqlBarrier` that can also pass several calls in one database transaction: give it to `groupedBranch`. It takes
 * the same pool and options, and behaves like a `mysqlBarrier` for every call that does not come through a group.
 *
 * @example
 * ```ts
 * const transfers = groupedBranch(mysqlGroupBarrier(pool), {
 *   key: () => 'transfer',
 *   apply: conditionalAdd({ table: 'account', valueColumn: 'cents' }),
 * })
 * ```
 */
export function mysqlGroupBarrier<Connection extends MysqlPoolConnection>(
  pool: MysqlPool<Connection>,
  options: PooledBarrierOptions = {},
): GroupBarrier<Connection> & MessageBarrier<Connection> {
  const barrier = mysqlBarrier(pool, options)
  const { now = Date.now } = options
  const retentionMs = checkRetentionMs(options.retentionMs)
  const timeoutMs = checkTimeoutMs(options.timeoutMs)
  const table = quoteTable(parseTableName(options.table), '`')
  return {
    ...barrier,
    groupRunner: {
      timeoutMs,
      admit: (call) => admitCall(call, retentionMs, now()),
      run: createMysqlGroupRun(pool, table, timeoutMs),
    },
  }
}

/** Makes the `run` of a group runner. `table` is quoted already. */
function createMysqlGroupRun<Connection extends MysqlPoolConnection>(
  pool: MysqlPool<Connection>,
  table: string,
  timeoutMs: number,
): GroupRunner<Connection>['run'] {
  const history: GroupHistory = { hadDuplicates: false, plansAgainAt: 0 }
  return (passes, apply) => {
    const { signal, release } = joinSignals(passes)
    const deadline = startDeadline(timeoutMs, signal)
    const plan = findPlan(apply)
    const pass = async (lend: Lend<Connection>, own: Connection): Promise<readonly GroupVerdict[]> => {
      const lockWaits = createLockWaits(own)
      const rows = createMysqlGroupTable(own, table, lockWaits, history)
      const work = {
        deadline,
        apply: (calls: Parameters<typeof apply>[1]) => lend((handle) => apply(handle, calls)),
        // A plan is of this package alone, and waits for each of its statements.
        plan: plan && ((calls: Parameters<typeof apply>[1]) => plan(own, calls)),
      }
      try {
        const verdicts = await runSteps(passGroup(rows, passes, work))
        await lockWaits.restore()
        return verdicts
      } catch (error: unknown) {
        // A connection whose setting could not be restored must not go back to the pool.
        await lockWaits.restore().catch(() => own.destroy())
        throw error
      }
    }
    const attempt = async (): Promise<readonly GroupVerdict[]> => {
      try {
        return await inTransaction(pool, deadline, pass)
      } catch (error: unknown) {
        throw hasWaitedInVain(error) ? asLockedOut(error) : unwrapLost(error)
      }
    }
    const isRepeated = (error: unknown): boolean => isContended(error) && !isLockedOut(error)
    return readVerdicts(repeatContended(attempt, isRepeated)).finally(release)
  }
}
