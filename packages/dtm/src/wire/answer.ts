import { writeGoJson } from '../go-json/write-go-json.ts'

/** The answer to a client: one of DTM's four outcomes, or an object. */
export interface Answer {
  readonly status: number
  readonly body: string
  /** Default: JSON. */
  readonly contentType?: string
}

export const JSON_TYPE = 'application/json; charset=utf-8'

export const SUCCESS: Answer = { status: 200, body: '{"dtm_result":"SUCCESS"}' }

/** The work goes on: ask again. */
export const ONGOING: Answer = { status: 425, body: '{"dtm_result":"ONGOING","message":"ONGOING"}' }

export function found(value: unknown): Answer {
  return { status: 200, body: writeGoJson(value) }
}

/** A definite no. Clients look for the word at the end of the text as well. */
export function failure(text: string): Answer {
  const message = text.endsWith(' FAILURE') ? text : `${text} FAILURE`
  return { status: 409, body: writeGoJson({ dtm_result: 'FAILURE', message }) }
}

/** Nothing is known to have happened: to a client neither a failure nor a success. */
export function trouble(message: string, status = 500): Answer {
  return { status, body: writeGoJson({ message }) }
}

/** Ends a request with this answer, from wherever it is noticed. */
export class AnsweredError extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super(answer.body)
    this.name = 'AnsweredError'
    this.answer = answer
  }
}

/** Over a bound of ours, or a name that no store could keep: DTM has no such answer, and its clients report any other. */
export function refuseOver(message: string): AnsweredError {
  return new AnsweredError(trouble(message, 422))
}

export function refuse(message: string): AnsweredError {
  return new AnsweredError(trouble(message))
}
