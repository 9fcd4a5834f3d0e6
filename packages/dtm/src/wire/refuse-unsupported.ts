import { AnsweredError, trouble } from './answer.ts'

/** 501: a client must not take it for a failure of its transaction, nor try for ever in the belief that we are down. */
export function notThereYet(what: string): AnsweredError {
  return new AnsweredError(
    trouble(`${what} not there yet: sagas, TCC and two-phase messages over HTTP are`, 501),
  )
}
