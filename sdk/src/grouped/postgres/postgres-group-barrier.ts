import { checkTimeoutMs, type PooledBarrierOptions, startDeadline } from '../../barrier/deadline.ts'
import type { MessageBarrier } from '../../barrier/message-barrier.ts'
import { postgresBarrier } from '../../barrier/postgres/postgres-barrier.ts'
import {
  execute,
  isContended,
  type PostgresPool,
  type PostgresPoolClient,
} from '../../barrier/postgres/postgres-client.ts'
import { inTransaction } from '../../barrier/postgres/postgres-transaction.ts'
import { listCauses, repeatContended } from '../../barrier/repeat-contended.ts'
import { checkRetentionMs } from '../../barrier/retention.ts'
import { parseTableName, quoteTable } from '../../barrier/table-name.ts'
import { admitCall } from '../admit-call.ts'
import type { GroupBarrier, GroupRunner, GroupVerdict } from '../group-barrier.ts'
import { GroupRolledBack, unwrapLost } from '../group-rolled-back.ts'
import { joinSignals } from '../join-signals.ts'
import { asLockedOut, isLockedOut, LOCK_WAIT_MS } from '../lock-wait.ts'
import { passGroup, readVerdicts } from '../pass-group.ts'
import { runSteps } from '../steps.ts'
import { createPostgresGroupTable } from './postgres-group-table.ts'

/**
 * A `postgresBarrier` that can also pass several calls in one database transaction: give it to `groupedBranch`. It
 * takes the same pool and options, and behaves like a `postgresBarrier` for every call that does not come through a
 * group.
 *
 * @example
 * ```ts
 * const transfers = groupedBranch(postgresGroupBarrier(pool), {
 *   key: () => 'transfer',
 *   apply: conditionalAdd({ table: 'account', valueColumn: 'cents' }),
 * })
 * ```
 */
export function postgresGroupBarrier<Client extends PostgresPoolClient>(
  pool: PostgresPool<Client>,
  options: PooledBarrierOptions = {},
): GroupBarrier<Client> & MessageBarrier<Client> {
  const barrier = postgresBarrier(pool, options)
  const { now = Date.now } = options
  const retentionMs = checkRetentionMs(options.retentionMs)
  const timeoutMs = checkTimeoutMs(options.timeoutMs)
  const table = quoteTable(parseTableName(options.table), '"')
  return {
    ...barrier,
    groupRunner: {
      timeoutMs,
      admit: (call) => admitCall(call, retentionMs, now()),
      run: createPostgresGroupRun(pool, table, timeoutMs),
    },
  }
}

/** Makes the `run` of a group runner. `table` is quoted already. */
function createPostgresGroupRun<Client extends PostgresPoolClient>(
  pool: PostgresPool<Client>,
  table: string,
  timeoutMs: number,
): GroupRunner<Client>['run'] {
  const lockWaitMs = Math.min(LOCK_WAIT_MS, Math.ceil(timeoutMs / LOCK_WAITS_OF_A_CALL))
  return (passes, apply) => {
    const { signal, release } = joinSignals(passes)
    const deadline = startDeadline(timeoutMs, signal)
    const attempt = async (): Promise<readonly GroupVerdict[]> => {
      let isPassed = false
      try {
        return await inTransaction(pool, deadline, async (lend, own) => {
          await execute(own, `SET LOCAL lock_timeout = ${lockWaitMs}`)
          const work = {
            deadline,
            apply: (calls: Parameters<typeof apply>[1]) => lend((handle) => apply(handle, calls)),
          }
          const verdicts = await runSteps(passGroup(createPostgresGroupTable(own, table), passes, work))
          isPassed = true
          return verdicts
        })
      } catch (error: unknown) {
        if (hasWaitedInVain(error)) throw asLockedOut(error)
        // COMMIT checks deferred constraints. A violation comes from some call's effect, so it counts as if `apply`
        // had thrown it.
        throw isPassed && isIntegrityError(error) ? new GroupRolledBack(error) : unwrapLost(error)
      }
    }
    const isRepeated = (error: unknown): boolean => isContended(error) && !isLockedOut(error)
    return readVerdicts(repeatContended(attempt, isRepeated)).finally(release)
  }
}

/**
 * One lock wait may take this part of a call's time. A group that waits in vain is taken apart, and its parts may wait
 * in vain again, one behind the other.
 */
const LOCK_WAITS_OF_A_CALL = 20

const LOCK_NOT_AVAILABLE = '55P03'

function hasWaitedInVain(error: unknown): boolean {
  return [...listCauses(error)].some((cause) => 'code' in cause && cause.code === LOCK_NOT_AVAILABLE)
}

/** Class 23: integrity constraint violation. */
function isIntegrityError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^23[0-9A-Z]{3}$/.test(String(error.code))
}
