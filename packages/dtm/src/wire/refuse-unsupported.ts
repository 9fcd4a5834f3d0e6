import { AnsweredError, answerError } from './answer.ts'

/** Answers 501, which a client counts neither as a failure of its transaction nor as a server that is down. */
export function refuseUnsupported(what: string): AnsweredError {
  return new AnsweredError(
    answerError(`${what} not there yet: sagas, TCC and two-phase messages over HTTP are`, 501),
  )
}
