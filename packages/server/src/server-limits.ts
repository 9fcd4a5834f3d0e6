/** Bounds on connections and requests; fastify's own defaults are mostly none. */
export interface ServerLimits {
  /** To receive one whole request. A wait of 60 s comes after that. */
  readonly requestTimeoutMs: number
  /** Without a byte either way; above the longest wait. */
  readonly idleTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly requestsPerSocketMax: number
  /** To answer anything but what may wait for an end, which the engine bounds by itself (store timeout plus wait). */
  readonly handlerTimeoutMs: number
  /** How often slow senders are looked for. */
  readonly connectionsCheckMs: number
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  requestTimeoutMs: 15_000,
  idleTimeoutMs: 75_000,
  keepAliveTimeoutMs: 72_000,
  requestsPerSocketMax: 100_000,
  handlerTimeoutMs: 10_000,
  connectionsCheckMs: 2_000,
}

export const PARAM_LENGTH_MAX = 2_048
