import { BranchError } from '../branch/branch-errors.ts'
import { toErrorAnswer } from '../branch/http-answer.ts'
import type { AnsweredBranch } from './answer-branch.ts'

/** Answers a call whose body nothing has parsed, so that its handler does not run without its payload. */
export function refuseUnparsedBody(advice: string): AnsweredBranch {
  const message = `the call has a body that nothing has parsed: ${advice}`
  const error = new BranchError('BRANCH_BODY_UNPARSED', message)
  return { answer: toErrorAnswer(error), error }
}
