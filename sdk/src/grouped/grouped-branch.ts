import { AsyncResource } from 'node:async_hooks'
import type { JsonValue } from '@counterstep/protocol'
import type { Barrier, BarrierOutcome } from '../barrier/barrier.ts'
import { keepRefusals } from '../barrier/keep-refusals.ts'
import type { BarrierCall } from '../branch/branch.ts'
import type { GroupApply, GroupBarrier } from './group-barrier.ts'
import { type GroupBounds, GroupQueue } from './group-queue.ts'
import { serveGroup, type WaitingCall } from './serve-group.ts'

/**
 * These are the settings of a grouped branch.
 *
 * @example
 * ```ts
 * const options: GroupedBranchOptions<PoolConnection, Addition> = {
 *   key: () => 'transfer',
 *   apply: conditionalAdd({ table: 'account', valueColumn: 'cents' }),
 *   lingerMs: 1,
 * }
 * ```
 */
export interface GroupedBranchOptions<Tx, Entry> {
  /**
   * Names the queue of a call. Calls of one name share transactions, one group after the other. (If a call that is
   * alone in its group takes longer than 1 s, the next group no longer waits for it.) Calls of different names are
   * served at the same time, on connections of their own. A constant makes one queue for all. Calls of one branch (its
   * action and its compensation) should have one name. The function sees the payload as it came, before `parse`.
   */
  readonly key: (call: BarrierCall) => string
  readonly apply: GroupApply<Tx, Entry>
  /** The largest number of calls in one group, 1 to 1,000. The default is 256. */
  readonly groupMax?: number
  /**
   * The largest number of calls of one key that wait for their group, at most 100,000. The default is 4,096. One more
   * call is refused with `BRANCH_QUEUE_FULL` (503), before anything is done.
   */
  readonly queueMax?: number
  /**
   * Says how long the first call of a group waits for others, in milliseconds, 0 to 1,000. The default is 0: a group
   * consists of the calls that came while the group before it was committed. With a few milliseconds the groups become
   * larger if the callers are far away.
   */
  readonly lingerMs?: number
}

const GROUP_MAX_DEFAULT = 256
const QUEUE_MAX_DEFAULT = 4_096
/** The time limit where the barrier sets none. */
const TIMEOUT_MS_DEFAULT = 10_000

/**
 * This is a barrier for busy rows. The number of commits bounds how many calls one row of a database can take. Here
 * concurrent calls with the same key are queued, and one database transaction serves a whole group of them: the
 * barrier's rows in one insert, one call of `apply`, the answers in one statement (with `conditionalAdd` on MySQL in
 * the same insert), one commit. A single call sees no difference from the plain barrier: it gets the same decisions,
 * a duplicate gets the same answer, and a call that fails leaves nothing behind.
 *
 * Give it to a `branchHandler` or to `withBarrier` like any barrier. The handler gets no transaction. It returns what
 * `apply` needs to know of its call. It is called only for a call that has to run; if `apply` is `conditionalAdd` on
 * MySQL, it may also be called for a repetition, whose answer stays the first one. An error that it throws concerns its
 * call alone. Each handler runs in the async context of its own call, and `apply` in the context of none. Async
 * handlers of a group run at the same time. A handler that takes longer than half of the barrier's
 * `timeoutMs` is late, and only its call fails, with `BARRIER_TIMED_OUT`.
 *
 * A deadlock runs the whole group again. A row that another transaction keeps locked for longer than 1 s (PostgreSQL: a
 * twentieth of `timeoutMs`, at most 1 s) costs only the calls that need that row, which end with `BARRIER_CONTENDED`:
 * the group is served in parts for at most 5 s. The parts run at the same time, and so in any order. If a constraint is
 * violated at COMMIT, the call whose effect violates it fails. If the answer to a COMMIT is lost, all calls of the
 * group fail with `BARRIER_COMMIT_UNKNOWN`. A call that is alone in its group goes through the plain barrier. Throws a
 * TypeError at construction for bounds that make no sense.
 *
 * @example
 * ```ts
 * import fastify from 'fastify'
 * import { createPool } from 'mysql2/promise'
 * import { branchHandler } from '@counterstep/sdk/fastify'
 * import { groupedBranch } from '@counterstep/sdk/grouped'
 * import { conditionalAdd, mysqlGroupBarrier } from '@counterstep/sdk/grouped/mysql'
 *
 * const barrier = mysqlGroupBarrier(createPool({ uri: 'mysql://bank@127.0.0.1/bank' }))
 * const transfers = groupedBranch(barrier, {
 *   key: () => 'transfer',
 *   apply: conditionalAdd({ table: 'account', valueColumn: 'cents' }),
 * })
 * const app = fastify()
 * app.post('/debit', branchHandler(transfers, (_, { op, payload }: Branch<{ id: string; cents: number }>) => ({
 *   id: payload.id,
 *   delta: op === 'compensate' ? payload.cents : -payload.cents,
 * })))
 * ```
 */
export function groupedBranch<Tx, Entry>(
  barrier: GroupBarrier<Tx>,
  {
    key,
    apply,
    groupMax = GROUP_MAX_DEFAULT,
    queueMax = QUEUE_MAX_DEFAULT,
    lingerMs = 0,
  }: GroupedBranchOptions<Tx, Entry>,
): Barrier<undefined, Entry> {
  assertWhole('groupMax', groupMax, 1, 1_000)
  assertWhole('queueMax', queueMax, 1, 100_000)
  assertWhole('lingerMs', lingerMs, 0, 1_000)
  const { groupRunner, assertHandler } = barrier
  if (groupRunner === undefined)
    throw new TypeError(
      'groupedBranch needs the barrier of a database that runs groups, for example mysqlGroupBarrier',
    )
  assertHandler?.(apply)
  const bounds: GroupBounds = {
    groupMax,
    queueMax,
    lingerMs,
    timeoutMs: groupRunner.timeoutMs ?? TIMEOUT_MS_DEFAULT,
  }
  const queues = new Map<string, GroupQueue>()
  // The handler returns an `Entry`, which goes to `apply` as it is.
  const serve = (calls: readonly WaitingCall[]) =>
    serveGroup(barrier, apply as GroupApply<Tx, unknown>, calls)

  const openQueue = (name: unknown): GroupQueue => {
    if (typeof name !== 'string') throw new TypeError('the key of a grouped branch must be a string')
    const known = queues.get(name)
    if (known !== undefined) return known
    const made = new GroupQueue(serve, bounds, () => queues.delete(name))
    queues.set(name, made)
    return made
  }
  const runInGroup: Barrier<undefined, Entry>['run'] = (call, effect) =>
    new Promise<BarrierOutcome>((settle, reject) => {
      const admitted = groupRunner.admit(call)
      // The loop of the queue calls the handler, which may read its tenant or its request from an AsyncLocalStorage.
      const entry = AsyncResource.bind((original: JsonValue | undefined) => effect(undefined, original))
      openQueue(key(call)).add({ admitted, entry, settle, reject, waitingSince: performance.now() })
    })
  return {
    run: keepRefusals(runInGroup),
    ...(assertHandler === undefined ? {} : { assertHandler }),
  }
}

function assertWhole(name: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return
  throw new TypeError(`${name} must be a whole number from ${min} to ${max}`)
}
