/** Holds one whole request. The server and the HTTP client were chosen when the exchange was made. */
export interface ExchangeRequest {
  readonly method: 'GET' | 'POST'
  /** It follows the base URL, and is percent-encoded. */
  readonly path: string
  readonly body?: string
  readonly headers: Readonly<Record<string, string>>
  /**
   * If the answer has more bytes, the rest is not read: the connection ends, and the exchange rejects with an
   * AnswerTooLargeError.
   */
  readonly answerBytesMax: number
  /** It counts from now to the last byte of the answer. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

export interface ExchangeAnswer {
  readonly status: number
  readonly retryAfter: string | null
  /** The server's own time in milliseconds from the epoch. Answers of our server to a GET have it. */
  readonly serverNow: string | null
  readonly text: string
}

/**
 * Sends a request once, follows no redirect, and resolves with the answer, whatever its status. Rejects with the
 * signal's reason, with a TimeoutError, with an AnswerTooLargeError, or with the error of the connection.
 */
export type Exchange = (request: ExchangeRequest) => Promise<ExchangeAnswer>

/** The header of `serverNow`. */
export const SERVER_NOW_HEADER = 'counterstep-now'
