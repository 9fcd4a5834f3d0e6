import { OWN_CALL_ID } from '@counterstep/protocol'
import type { MessageBarrier } from '../barrier/message-barrier.ts'
import type { Branch } from '../branch/branch.ts'
import { BranchError, BranchFailure, BranchOngoing, isBranchError } from '../branch/branch-errors.ts'
import { asBranchError, type HttpAnswer, toErrorAnswer } from '../branch/http-answer.ts'
import { type BranchRequest, parseBranch } from '../branch/parse-branch.ts'
import { withinTrace } from '../telemetry/trace-joiner.ts'
import type { AnsweredBranch } from './answer-branch.ts'

/**
 * Answers the query-back of a two-phase message, ours or DTM's; never rejects. It is for a framework without a
 * `queryPreparedHandler` here. 200: the local transaction has committed; 409: it has not, and never will; 425: a lock
 * is in the way, ask again; 400 and 500: the outcome cannot be known.
 *
 * @example
 * ```ts
 * const { answer, error } = await answerQueryBack(barrier, { url: request.url, headers: request.headers })
 * if (error !== undefined) console.error(error)
 * return new Response(answer.body, { status: answer.statusCode, headers: answer.headers })
 * ```
 */
export function answerQueryBack(
  barrier: Pick<MessageBarrier<never, never>, 'queryPrepared'>,
  request: BranchRequest,
): Promise<AnsweredBranch> {
  return withinTrace(request.headers, () => answer(barrier, request))
}

async function answer(
  barrier: Pick<MessageBarrier<never, never>, 'queryPrepared'>,
  request: BranchRequest,
): Promise<AnsweredBranch> {
  let known: { readonly branch?: Branch } = {}
  try {
    const branch = parseQueryBack(request)
    known = { branch }
    const { gid, acceptedAt, signal } = branch
    const outcome = await barrier.queryPrepared(gid, {
      ...(acceptedAt === undefined ? {} : { acceptedAt }),
      ...(signal === undefined ? {} : { signal }),
    })
    return { answer: outcome === 'committed' ? COMMITTED : toErrorAnswer(ROLLED_BACK), ...known }
  } catch (error: unknown) {
    if (isContended(error)) return { answer: toErrorAnswer(new BranchOngoing()), ...known }
    // An error must never drop a message. Only the barrier's own answer may do that.
    return {
      answer: toErrorAnswer(asBranchError(error)),
      error: error ?? new Error('the barrier threw undefined'),
      ...known,
    }
  }
}

const COMMITTED: HttpAnswer = { statusCode: 200, headers: {} }
const ROLLED_BACK = new BranchFailure('the local transaction has not committed, and never will', {
  code: 'MESSAGE_ROLLED_BACK',
})

function parseQueryBack(request: BranchRequest): Branch {
  const branch = parseBranch(request)
  if (branch.kind === 'message' && branch.op === 'msg' && branch.branchId === OWN_CALL_ID) return branch
  throw new BranchError('BRANCH_CALL_INVALID', 'this is no query-back: it has branch_id 00 and op msg')
}

/** Tells whether a lock is in the way. Most likely the local transaction is then under way. */
function isContended(error: unknown): boolean {
  return isBranchError(error) && error.code === 'BARRIER_CONTENDED'
}
