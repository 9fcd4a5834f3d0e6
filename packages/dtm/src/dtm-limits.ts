/** Bounds on connections, as the native face has them; a wait for a result is bounded by what the client asks for. */
export interface DtmLimits {
  /** To receive one whole request. */
  readonly requestTimeoutMs: number
  /** Without a byte either way; above the longest wait. */
  readonly idleTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly requestsPerSocketMax: number
  /** How often slow senders are looked for. */
  readonly connectionsCheckMs: number
}

export const DEFAULT_DTM_LIMITS: DtmLimits = {
  requestTimeoutMs: 15_000,
  idleTimeoutMs: 75_000,
  keepAliveTimeoutMs: 72_000,
  requestsPerSocketMax: 100_000,
  connectionsCheckMs: 2_000,
}
