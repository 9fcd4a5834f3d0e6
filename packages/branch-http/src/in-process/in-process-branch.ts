/** A call of a branch that is a function of this process. It has what a request has, so the SDK reads both in the same way. */
export interface InProcessCall {
  /** The path and the query, which has the identity of the call. */
  readonly url: string
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** It is the parsed JSON, undefined for an empty body, and the bytes of a body with another content type. */
  readonly payload: unknown
  /**
   * It aborts when the time of the call is over or the orchestrator closes. An answer after that does not count, so end then:
   * on Lambda a function that goes on is frozen in the middle of its work, with the locks that it holds. The SDK's barriers do.
   */
  readonly signal: AbortSignal
}

/** The SDK's `answerBranch` returns this. */
export interface InProcessAnswer {
  readonly answer: {
    /** Over HTTP it means the same: 200 is a success, 409 a failure, 425 not yet, and after anything else the branch is called again. */
    readonly statusCode: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
  /** This error led to the answer. It goes to the log. */
  readonly error?: unknown
}

/** If it throws, that is as a 500 over HTTP: it is unknown what it has done, and it is called again. */
export type InProcessBranch = (call: InProcessCall) => InProcessAnswer | Promise<InProcessAnswer>

/** The branches of each service by their paths: the URL of `{ stock: { '/reserve': … } }` is `stock:/reserve`. */
export type InProcessServices = Readonly<Record<string, Readonly<Record<string, InProcessBranch>>>>
