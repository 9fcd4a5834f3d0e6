declare const CONTRACT: unique symbol

/**
 * The URL of a service with what it takes, answers and may refuse: what {@link endpoint} returns. The contract stands in
 * the type alone, and adds nothing to what is sent.
 *
 * @example
 * ```ts
 * const hold: Endpoint<{ cents: number }, { holdId: string }, 'NO_FUNDS'> = endpoint('bank:/holds')
 * ```
 */
export interface Endpoint<Request, Answer, Failure = never> {
  readonly url: string
  readonly [CONTRACT]?: { readonly request: Request; readonly answer: Answer; readonly failure: Failure }
}

/**
 * Says once what a service takes and answers, so that the compiler checks each branch that calls it and each use of its
 * answer. `Failure` names the codes of its 409; an endpoint that cannot refuse leaves it out, and only such a one can be
 * `retriable`. The URL may have places, `bank:/holds/{id}/capture`, which a branch fills by `at`.
 *
 * @example
 * ```ts
 * const hold = endpoint<{ cents: number }, { holdId: string }, 'NO_FUNDS'>('bank:/holds')
 * const capture = endpoint<void, { paymentId: string }>('bank:/holds/{id}/capture')
 * const order = saga()
 *   .branch('hold', hold, { payload: { cents: 1_250 } })
 *   .branch('capture', capture, ({ hold }) => ({ at: { id: hold.holdId } }))
 * ```
 */
export function endpoint<Request, Answer, Failure extends string = never>(
  url: string,
): Endpoint<Request, Answer, Failure> {
  return { url }
}
