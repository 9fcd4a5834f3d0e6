/**
 * The part of Express's request that is read.
 *
 * @example
 * ```ts
 * const request: BranchExpressRequest = expressRequest
 * ```
 */
export interface BranchExpressRequest {
  /** The URL as it stands in the request line, before any router has changed it. */
  readonly originalUrl: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body?: unknown
  /** Node says here whether something has read from the stream of the body. */
  readonly readableDidRead?: boolean
  /** Node says here whether that stream has been read to its end, which may be its first byte. */
  readonly readableEnded?: boolean
}

/**
 * The part of Express's response that is used.
 *
 * @example
 * ```ts
 * const response: BranchExpressResponse = expressResponse
 * ```
 */
export interface BranchExpressResponse {
  status(statusCode: number): unknown
  set(values: Record<string, string>): unknown
  end(body?: string): unknown
}
