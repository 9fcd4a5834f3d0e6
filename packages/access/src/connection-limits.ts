/** Bounds on a face's connections; fastify's own defaults are mostly none. */
export interface ConnectionLimits {
  /** To receive one whole request. A wait of 60 s comes after that. */
  readonly requestTimeoutMs: number
  /** Without a byte either way; above the longest wait. */
  readonly idleTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly requestsPerSocketMax: number
  /** How often slow senders are looked for. */
  readonly connectionsCheckMs: number
}

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  requestTimeoutMs: 15_000,
  idleTimeoutMs: 75_000,
  keepAliveTimeoutMs: 72_000,
  requestsPerSocketMax: 100_000,
  connectionsCheckMs: 2_000,
}

/** As fastify takes them. */
export function connectionOptions(limits: ConnectionLimits) {
  return {
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.idleTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxRequestsPerSocket: limits.requestsPerSocketMax,
    // Node swaps the two when the first is the longer, so requestTimeout alone would bound only the headers.
    http: {
      headersTimeout: limits.requestTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.connectionsCheckMs,
    },
    forceCloseConnections: 'idle',
    // Its answer is not one of the face's, which gives its own.
    return503OnClosing: false,
  } as const
}
