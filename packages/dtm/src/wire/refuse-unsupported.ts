import { AnsweredError, answerError } from './answer.ts'

/** Answers 501, so that a client does not count it as a failure of its transaction, nor retries as if the server were down. */
export function refuseUnsupported(what: string): AnsweredError {
  return new AnsweredError(
    answerError(`${what} not there yet: sagas, TCC and two-phase messages over HTTP are`, 501),
  )
}
