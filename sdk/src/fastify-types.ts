/**
 * The part of Fastify's request that is read.
 *
 * @example
 * ```ts
 * const request: BranchFastifyRequest = fastifyRequest
 * ```
 */
export interface BranchFastifyRequest {
  /** The URL as it stands in the request line, before any router has changed it. */
  readonly originalUrl: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly log: { error(details: object, message: string): void }
}

/**
 * The part of Fastify's reply that is used.
 *
 * @example
 * ```ts
 * const reply: BranchFastifyReply = fastifyReply
 * ```
 */
export interface BranchFastifyReply {
  code(statusCode: number): unknown
  headers(values: Record<string, string>): unknown
  send(payload?: unknown): unknown
}
