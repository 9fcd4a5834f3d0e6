import type { BranchAnswer } from '@counterstep/core'
import type { Result } from '@counterstep/protocol'
import type { ErrorWord } from './error-word.ts'

/** Reads the result from the status alone. 201 and 204 are not success, and 500 is not failure: they are unknown. */
export function readResult(statusCode: number | undefined): Result {
  if (statusCode === 200) return 'success'
  if (statusCode === 409) return 'failure'
  if (statusCode === 425) return 'ongoing'
  return 'unknown'
}

/** DTM's services put their words anywhere in the body. ONGOING wins over FAILURE. */
export function readWordResult(
  words: { readonly hasOngoing: boolean; readonly hasFailure: boolean } | undefined,
): Result | undefined {
  if (words?.hasOngoing === true) return 'ongoing'
  return words?.hasFailure === true ? 'failure' : undefined
}

/** Says of a call that it has no answer, and why. */
export function answerUnknown(word: ErrorWord): BranchAnswer {
  return { result: 'unknown', error: word }
}
