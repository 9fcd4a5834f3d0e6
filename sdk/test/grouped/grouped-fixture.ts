import {
  type GroupApply,
  type GroupBarrier,
  type GroupCall,
  groupedBranch,
  takeOut,
} from '../../src/grouped/grouped.ts'
import type { Barrier, BarrierCall } from '../../src/index.ts'
import { type BarrierFixture, type SuiteEffect, thrownBy } from '../barrier/barrier-fixture.ts'

/** Writes the effects of all calls, in their order. */
export type WriteEffects<Tx> = (tx: Tx, calls: readonly GroupCall<unknown>[]) => void | Promise<void>

/**
 * How an `apply` tells that a call failed after it has written: by the result of that call, or by throwing, which says
 * nothing about whose failure it is.
 */
export const MANNERS = ['takes out', 'throws'] as const
export type Manner = (typeof MANNERS)[number]

/** No call of the pairs fails, so the manners differ in the rounds that the suite adds, whose first call says no. */
export const PAIRS: Readonly<Record<Manner, number>> = { 'takes out': 1_000, throws: 200 }

/** Acts out the effects of the barrier's suite. A `break` is thrown in either manner. */
export function actingApply<Tx>(write: WriteEffects<Tx>, manner: Manner): GroupApply<Tx, SuiteEffect> {
  const results = (calls: readonly GroupCall<SuiteEffect>[]): unknown[] =>
    calls.map(({ entry }) => {
      const error = thrownBy(entry)
      if (error === undefined) return entry.does === 'succeed' ? entry.answer : undefined
      if (manner === 'throws' || entry.does === 'break') throw error
      return takeOut(error)
    })
  return (tx, calls) => {
    const writing = write(tx, calls)
    return writing === undefined ? results(calls) : writing.then(() => results(calls))
  }
}

/**
 * The fixture of a plain barrier, its calls grouped. In one queue each has company, so that it is in a group even
 * when the suite makes one call after the other. In more than one it may be alone, and the calls of one branch meet
 * in different transactions, as those of several processes do.
 */
export function groupedFixture<Tx>(
  plain: BarrierFixture,
  open: (losing?: 'before' | 'after') => GroupBarrier<Tx>,
  write: WriteEffects<Tx>,
  manner: Manner,
  queues = 1,
): BarrierFixture {
  let turn = 0
  const grouped = (barrier: GroupBarrier<Tx>): Barrier<undefined, SuiteEffect> =>
    groupedBranch(barrier, { key: () => String(turn++ % queues), apply: actingApply(write, manner) })
  let companions = 0
  const runIn = async (barrier: ReturnType<typeof grouped>, call: BarrierCall, effect: SuiteEffect) => {
    const running = barrier.run(call, (_, original) =>
      effect.does === 'tell-original' ? { does: 'succeed', answer: { original } } : effect,
    )
    if (queues > 1) return running
    const companion = { gid: `companion-${++companions}`, branchId: '01', op: 'action' } as const
    // Its outcome does not matter: of a lost COMMIT it knows no more than the call.
    const [settled] = await Promise.allSettled([running, barrier.run(companion, () => ({ does: 'succeed' }))])
    if (settled.status === 'rejected') throw settled.reason
    return settled.value
  }
  const barrier = grouped(open())
  const { runLosingCommit, ...rest } = plain
  return {
    ...rest,
    run: (call, effect) => runIn(barrier, call, effect),
    ...(runLosingCommit === undefined
      ? {}
      : { runLosingCommit: (call, effect, when) => runIn(grouped(open(when)), call, effect) }),
  }
}
