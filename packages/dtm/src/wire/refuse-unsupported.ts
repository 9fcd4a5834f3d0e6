import { AnsweredError, answerError } from './answer.ts'

/**
 * Answers 501, which a client counts neither as a failure of its transaction nor as a server that is down. The subject has
 * its verb, as in "workflows are", because the answer's sentence goes on from there.
 */
export function refuseUnsupported(subject: string): AnsweredError {
  return new AnsweredError(
    answerError(
      `${subject} not there yet: sagas, TCC, XA, two-phase messages and workflows over HTTP are`,
      501,
    ),
  )
}
