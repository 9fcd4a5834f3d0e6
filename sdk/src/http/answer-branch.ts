import type { JsonValue } from '@counterstep/protocol'
import type { Barrier } from '../barrier/barrier.ts'
import { isThenable } from '../barrier/thenable.ts'
import { assertNotCompensated } from '../barrier/with-barrier.ts'
import type { BarrierCall, Branch } from '../branch/branch.ts'
import { BranchError, isBranchFailure, isBranchOngoing } from '../branch/branch-errors.ts'
import { copyPayload } from '../branch/copy-payload.ts'
import { type HttpAnswer, toErrorAnswer, toOutcomeAnswer } from '../branch/http-answer.ts'
import { type BranchRequest, isUndoDue, parseBranch } from '../branch/parse-branch.ts'
import { getTraceJoiner, withinTrace } from '../telemetry/trace-joiner.ts'
import { assertServed, type BranchOp } from './served-ops.ts'

/**
 * The code that serves a branch. It runs once per gid, branch and op, in the barrier's database transaction, and
 * writes through `tx` alone. Its return value is the answer (a JSON value, or nothing). `BranchFailure` and
 * `BranchOngoing` are thrown. After a deadlock it runs again from its start, with another `branch` that is as it came: it
 * may change its own, and must change nothing else that a rollback does not undo.
 *
 * @example
 * ```ts
 * const credit: BranchHandler<PoolConnection, { id: string; cents: number }> = async (tx, branch) => {
 *   await tx.execute('UPDATE account SET cents = cents + ? WHERE id = ?', [branch.payload.cents, branch.payload.id])
 * }
 * ```
 */
export type BranchHandler<Tx, Payload = unknown, Effect = unknown, Original = JsonValue> = (
  tx: Tx,
  branch: Branch<Payload, Original>,
) => Effect | Promise<Effect>

/**
 * These are the options of a `branchHandler`.
 *
 * @example
 * ```ts
 * const options: BranchHandlerOptions<Transfer> = { parse: (payload) => transferSchema.parse(payload) }
 * ```
 */
export interface BranchHandlerOptions<Payload> {
  /**
   * The ops that this route serves; by default all. A call with another op is answered 409 `BRANCH_OP_NOT_SERVED`, and
   * nothing is done. Set `ops` for every route that serves one op, above all for the `try` of a TCC: its client calls
   * the `try` without a signature, and without `ops` the same unsigned route would take a `confirm` and a `cancel` too.
   */
  readonly ops?: readonly BranchOp[]
  /**
   * Checks the payload and returns it with its type. It runs only when the handler is about to: a duplicate and a
   * null compensation need no payload. An error that it throws is answered 422 `BRANCH_PAYLOAD_INVALID` and the call
   * is asked again, because an older version of the service may be wrong; throw a `BranchFailure` if the transaction
   * shall be undone.
   */
  readonly parse?: (payload: unknown) => Payload
  /**
   * Is called with each error that is not answered 200, 409 or 425, before the answer is sent. If it throws, its
   * error goes to the framework instead.
   */
  readonly onError?: (error: unknown, branch: Branch | undefined) => void
}

/**
 * An answer, and the error that led to it unless that is a business outcome.
 *
 * @example
 * ```ts
 * const { answer, error }: AnsweredBranch = await answerBranch(barrier, handler, request)
 * if (error !== undefined) log.error(error)
 * ```
 */
export interface AnsweredBranch {
  readonly answer: HttpAnswer
  /** The error for your log, since the answer tells only its code. */
  readonly error?: unknown
  /** It is absent if the request was no branch call. */
  readonly branch?: Branch
}

/**
 * Parses a branch call, passes the barrier and makes the answer. It never rejects. It is for a framework that has no
 * entry in this package.
 *
 * @example
 * ```ts
 * const { answer, error } = await answerBranch(barrier, handler, { url, headers, payload })
 * if (error !== undefined) console.error(error)
 * return new Response(answer.body, { status: answer.statusCode, headers: answer.headers })
 * ```
 */
export function answerBranch<Tx, Effect, Payload, Original = JsonValue>(
  barrier: Barrier<Tx, Effect>,
  handler: BranchHandler<Tx, Payload, Effect, Original>,
  request: BranchRequest,
  options: Pick<BranchHandlerOptions<Payload>, 'parse' | 'ops'> = {},
): Promise<AnsweredBranch> {
  return withinTrace(request.headers, () => answer(barrier, handler, request, options))
}

async function answer<Tx, Effect, Payload, Original>(
  barrier: Barrier<Tx, Effect>,
  handler: BranchHandler<Tx, Payload, Effect, Original>,
  request: BranchRequest,
  { parse, ops }: Pick<BranchHandlerOptions<Payload>, 'parse' | 'ops'>,
): Promise<AnsweredBranch> {
  let branch: Branch | undefined
  try {
    const called = parseBranch(request)
    branch = called
    // This is a query-back, which only asks about the local transaction. The handler would run it.
    if (called.op === 'msg')
      throw new BranchError('BRANCH_KIND_UNSUPPORTED', 'a query-back needs queryPreparedHandler')
    assertServed(called.op, ops)
    const call: BarrierCall = isUndoDue(called) ? { ...called, mustUndo: true } : called
    const outcome = await barrier.run(call, (tx, original) =>
      handler(tx, toHandledBranch(called, parse, original)),
    )
    getTraceJoiner()?.noteDecision(called, outcome.decision)
    assertNotCompensated(outcome)
    return { answer: toOutcomeAnswer(outcome), branch }
  } catch (error: unknown) {
    const answered = toErrorAnswer(error)
    const known = branch === undefined ? {} : { branch }
    return isBranchFailure(error) || isBranchOngoing(error)
      ? { answer: answered, ...known }
      : { answer: answered, error: error ?? new Error('the handler threw undefined'), ...known }
  }
}

/** Makes the branch of one run. A handler may take it apart, and must find it whole when it runs again after a deadlock. */
function toHandledBranch<Payload, Original>(
  branch: Branch,
  parse: ((payload: unknown) => Payload) | undefined,
  original: JsonValue | undefined,
): Branch<Payload, Original> {
  const payload = copyPayload(branch.payload)
  // The caller has named the type of the original, and without `parse` also the payload's, and is responsible for both.
  return {
    ...branch,
    headers: { ...branch.headers },
    payload: parse === undefined ? payload : parsed(payload, parse),
    ...(original === undefined ? {} : { original }),
  } as Branch<Payload, Original>
}

function parsed<Payload>(payload: unknown, parse: (payload: unknown) => Payload): Payload {
  try {
    const value = parse(payload)
    // A handler that awaits something else before it would leave its rejection untaken, which ends the process.
    if (isThenable(value)) Promise.resolve(value).catch(() => undefined)
    return value
  } catch (error: unknown) {
    if (isBranchFailure(error) || isBranchOngoing(error)) throw error
    throw new BranchError('BRANCH_PAYLOAD_INVALID', 'the payload was refused', error)
  }
}
