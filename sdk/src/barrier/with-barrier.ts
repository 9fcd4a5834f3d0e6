import type { JsonValue } from '@counterstep/protocol'
import { ALREADY_COMPENSATED } from '@counterstep/protocol/barrier'
import type { BarrierCall } from '../branch/branch.ts'
import { BranchFailure } from '../branch/branch-errors.ts'
import type { Barrier, BarrierOutcome } from './barrier.ts'

/**
 * Runs `effect` behind a barrier, for calls that come by a queue, by gRPC or from a framework without an entry here.
 *
 * Resolves with the value that `effect` returned the first time, as it came out of JSON. A duplicate gets the same
 * value. A null compensation resolves with undefined. Throws a {@link BranchFailure} with the code
 * `ALREADY_COMPENSATED` for an original that came after its undo, one with `GID_REUSED` for a gid that an earlier
 * transaction has used, any error that `effect` threw, and the barrier's own `BranchError`. Answer a failure as a
 * failure, a `BranchOngoing` as not yet, and everything else in a way that makes the caller try again.
 *
 * @example
 * ```ts
 * const call = { gid: message.gid, branchId: '01', op: 'action' } as const
 * const receipt = await withBarrier(barrier, call, async (tx) => book(tx, message.order))
 * ```
 */
export async function withBarrier<Tx, Effect, Answer extends Effect>(
  barrier: Barrier<Tx, Effect>,
  call: BarrierCall,
  effect: (tx: Tx, original?: JsonValue) => Answer | Promise<Answer>,
): Promise<FirstAnswer<Effect, Answer> | undefined> {
  const outcome = await barrier.run(call, effect)
  assertNotCompensated(outcome)
  return outcome.answer === undefined ? undefined : JSON.parse(outcome.answer)
}

/**
 * The value that `withBarrier` resolves with: the effect's own, except for Redis, whose effect returns a script.
 *
 * @example
 * ```ts
 * const receipt: FirstAnswer<unknown, { id: string }> = { id: 'r-1' }
 * ```
 */
export type FirstAnswer<Effect, Answer> = unknown extends Effect ? Answer : JsonValue

/** Throws for the one decision that the caller must not take for a success. */
export function assertNotCompensated({ decision }: BarrierOutcome): void {
  if (decision !== 'already-compensated') return
  const message =
    'this call came after its compensation, or after a refusal of its own that was kept without its code'
  throw new BranchFailure(message, { code: ALREADY_COMPENSATED })
}
