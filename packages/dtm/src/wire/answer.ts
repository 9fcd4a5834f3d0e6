import { writeGoJson } from '../go-json/write-go-json.ts'

/** An answer to a client. Its body is one of DTM's outcomes, or an object that the client has asked for. */
export interface Answer {
  readonly status: number
  readonly body: string
  /** It is `JSON_TYPE` by default. */
  readonly contentType?: string
}

export const JSON_TYPE = 'application/json; charset=utf-8'

export const SUCCESS: Answer = { status: 200, body: '{"dtm_result":"SUCCESS"}' }

/** The work goes on, and the client should ask again. */
export const ONGOING: Answer = { status: 425, body: '{"dtm_result":"ONGOING","message":"ONGOING"}' }

export function answerWith(value: unknown): Answer {
  return { status: 200, body: writeGoJson(value) }
}

/** Answers that the transaction has failed for good. Some clients search the text for the word at its end. */
export function answerFailure(text: string): Answer {
  const message = text.endsWith(' FAILURE') ? text : `${text} FAILURE`
  return { status: 409, body: writeGoJson({ dtm_result: 'FAILURE', message }) }
}

/** Answers with an error, which for a client is neither a failure nor a success of its transaction. */
export function answerError(message: string, status = 500): Answer {
  return { status, body: writeGoJson({ message }) }
}

/** Ends a request with this answer. It may be thrown anywhere below a route. */
export class AnsweredError extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super(answer.body)
    this.name = 'AnsweredError'
    this.answer = answer
  }
}

/** Refuses a value that is over a bound of ours, or a name that no store could keep. DTM's clients report any status. */
export function refuseUnprocessable(message: string): AnsweredError {
  return new AnsweredError(answerError(message, 422))
}

export function refuse(message: string): AnsweredError {
  return new AnsweredError(answerError(message))
}
