/**
 * What is read of Express's request.
 *
 * @example
 * ```ts
 * const request: BranchExpressRequest = expressRequest
 * ```
 */
export interface BranchExpressRequest {
  /** As it stands in the request line, before any router has changed it. */
  readonly originalUrl: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/**
 * What is used of Express's response.
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
