/**
 * The orchestrator forgets a finished transaction long before the barrier forgets its rows. A gid that is submitted again
 * in between names another transaction, which must neither be taken for the first one nor undo it.
 */
import type { Op } from '../words.ts'
import { type BarrierRow, findOriginOp } from './decide-barrier.ts'
import { isOfOtherTransaction } from './row-instants.ts'

/**
 * - `gid-reused`: the op's row is another transaction's. The call is refused, and changes nothing.
 * - `nothing-to-undo`: the row that would be undone is another transaction's, or there is none. The undo succeeds
 *   without an effect, and no row of the undo itself may stay, because the other transaction may still have to undo.
 * - `undo-in-the-way`: there is something to undo, but the undo's own row is another transaction's, so that a second
 *   undo could not be told from the first. The undo has to wait until that row is purged.
 */
export type ReuseDecision = 'gid-reused' | 'nothing-to-undo' | 'undo-in-the-way'

/** Returns undefined if no row of another transaction is involved. `standing` may lack the op's own row. */
export function decideReuse(
  op: Op,
  standing: readonly BarrierRow[],
  since: number,
): ReuseDecision | undefined {
  const originOp = findOriginOp(op)
  const own = standing.find((row) => row.op === op)
  const isOwnOther = own !== undefined && isOfOtherTransaction(own, since)
  if (originOp === undefined) return isOwnOther ? 'gid-reused' : undefined
  const origin = standing.find((row) => row.op === originOp)
  if (origin !== undefined && isOfOtherTransaction(origin, since)) return 'nothing-to-undo'
  if (!isOwnOther) return undefined
  return origin?.reason === originOp ? 'undo-in-the-way' : 'nothing-to-undo'
}
