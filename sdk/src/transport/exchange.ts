/** Holds one whole request. Its server and its sender were settled when the exchange was made. */
export interface ExchangeRequest {
  readonly method: 'GET' | 'POST'
  /** It follows the base URL, and is percent-encoded. */
  readonly path: string
  readonly body?: string
  readonly headers: Readonly<Record<string, string>>
  /** More is not read: the connection ends, and the exchange rejects with an AnswerTooLargeError. */
  readonly answerBytesMax: number
  /** It counts from now to the last byte of the answer. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

export interface ExchangeAnswer {
  readonly status: number
  readonly retryAfter: string | null
  readonly text: string
}

/**
 * Sends a request once, follows no redirect, and gives whatever was answered. Rejects with the signal's reason, with a
 * TimeoutError, with an AnswerTooLargeError, or with what kept the answer from coming.
 */
export type Exchange = (request: ExchangeRequest) => Promise<ExchangeAnswer>
