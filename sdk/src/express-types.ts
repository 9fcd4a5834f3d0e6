/**
 * What is read of Express's request.
 *
 * @example
 * ```ts
 * const request: BranchExpressRequest = expressRequest
 * ```
 */
export interface BranchExpressRequest {
  readonly query: unknown
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
