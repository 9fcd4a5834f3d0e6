/** The answer to a branch call: the status is the result, the body is for people. */
export interface BankAnswer {
  readonly statusCode: number
  readonly body: string
  /** Why it is no success, as in the body. */
  readonly code?: string
}

export function success(fields: object): BankAnswer {
  return { statusCode: 200, body: JSON.stringify(fields) }
}

export function failure({ code, message }: { readonly code: string; readonly message: string }): BankAnswer {
  return { statusCode: 409, code, body: JSON.stringify({ code, message }) }
}
