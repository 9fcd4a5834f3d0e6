/** What a branch call is answered with: the status is the result, the body is for people. */
export interface BankAnswer {
  readonly statusCode: number
  readonly body: string
  /** Why it is no success, as in the body. */
  readonly code?: string
}

export function success(fields: Readonly<Record<string, unknown>>): BankAnswer {
  return { statusCode: 200, body: JSON.stringify(fields) }
}

export function failure(code: string, message: string): BankAnswer {
  return { statusCode: 409, code, body: JSON.stringify({ code, message }) }
}

/** The request is no branch call of this bank. The orchestrator takes it for unknown, and asks again. */
export function refusal(code: string, message: string): BankAnswer {
  return { statusCode: 400, code, body: JSON.stringify({ code, message }) }
}

/** The business says no. Thrown, so that the database transaction rolls back with it. */
export class BusinessFailure extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'BusinessFailure'
    this.code = code
  }
}
