import { findTroubledOp, listOps } from '@counterstep/explain'
import type { OpView, PreviewRequest, TransactionView } from '@counterstep/protocol'
import { isRefused, isUnavailable, type OpName } from '@counterstep/sdk/operator'
import type { OperatorContext } from './operator-context.ts'

/** A service that works most often answers in this time. */
export const ANSWER_WAIT_MS = 2_000

/** Finds the call that a command makes due at once. A command that decides something else has none. */
export function findDueCall({ command, op }: PreviewRequest, view: TransactionView): OpName | undefined {
  if (view.paused !== undefined) return undefined
  if (command === 'edit' || command === 'retry-op') return op
  if (command !== 'retry') return undefined
  const troubled = findTroubledOp(view)
  return troubled?.branchId === undefined ? undefined : { branchId: troubled.branchId, op: troubled.op.op }
}

export interface Answered {
  readonly view: TransactionView
  readonly op: OpView
}

/**
 * Waits for the first answer of a call after an instant, by the clock of the server. Undefined: none was seen in time.
 * The command is durable by then, so a look that fails is no failure of it.
 */
export async function awaitAnswer(
  { operator, signal, line: { places } }: OperatorContext,
  due: OpName,
  givenAt: number,
): Promise<Answered | undefined> {
  const [gid = ''] = places
  const ended = AbortSignal.timeout(ANSWER_WAIT_MS)
  try {
    for await (const view of operator.watch(gid, { signal: AbortSignal.any([signal, ended]) })) {
      const op = findOp(view, due)
      if (op !== undefined && hasAnswered(op, givenAt)) return { view, op }
    }
  } catch (error: unknown) {
    signal.throwIfAborted()
    if (!ended.aborted && !isRefused(error) && !isUnavailable(error)) throw error
  }
  return undefined
}

function findOp(view: TransactionView, due: OpName): OpView | undefined {
  return listOps(view).find(({ branchId, op }) => branchId === due.branchId && op.op === due.op)?.op
}

function hasAnswered({ state, endedAt }: OpView, givenAt: number): boolean {
  return state !== 'calling' && endedAt !== undefined && endedAt >= givenAt
}
