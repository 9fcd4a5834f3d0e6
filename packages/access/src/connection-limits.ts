/**
 * This many connections may wait to be accepted, where the system allows it, and one caller holds as many in all. The system drops
 * those beyond it, whose callers try again after a second; but all that wait are accepted in their order, so more would wait longer.
 */
export const UNACCEPTED_MAX = 1_024

/** Bounds the connections of an HTTP API. Fastify leaves most of these unbounded by default. */
export interface ConnectionLimits extends ConnectionBoundLimits {
  /** A caller must send one whole request within this time. A wait of 60 s comes after that. */
  readonly requestTimeoutMs: number
  /** A connection may be silent in both directions for this long, which is more than the longest wait. */
  readonly idleTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly requestsPerSocketMax: number
  /** Slow senders are looked for this often. */
  readonly connectionsCheckMs: number
}

/** Bounds all connections of a process together, whichever HTTP API they came to. */
export interface ConnectionBoundLimits {
  /**
   * This many connections may be open at once. When there are as many, a new one takes the place of the oldest one
   * without a good key. Connections with a good key share seven eighths.
   */
  readonly connectionsMax: number
  /** One address (one /64 of IPv6) may hold this many connections that have not yet shown a good key. */
  readonly strangersPerAddressMax: number
  /**
   * All request bodies that are not yet whole, and all answers that are not yet read and large or behind another, may
   * hold this many bytes together. Beyond that, the holder of the most bytes loses the one of its connections that holds the most.
   */
  readonly unreadBodyBytesMax: number
  /** One turn of the event loop begins this many requests of one connection. */
  readonly requestsPerTurnMax: number
  /**
   * One turn of the event loop begins requests of all connections for about this long, and those of connections without
   * a good key for a twelfth of it. The others wait for the next turn. The submits of 256 connections take less.
   */
  readonly turnMsMax: number
  /**
   * This many requests of connections with a good key may wait for a later turn because their connection pipelined them,
   * and a quarter as many of others.
   */
  readonly pipelinedRequestsMax: number
}

/**
 * A connection takes 10 to 20 KiB, or 32 KiB with the head of a request, and a request that waits takes about 4 KiB. A
 * server took some 550 MB when half-sent heads, bodies and pipelined requests reached these defaults at once.
 */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  requestTimeoutMs: 15_000,
  idleTimeoutMs: 75_000,
  keepAliveTimeoutMs: 72_000,
  requestsPerSocketMax: 100_000,
  connectionsCheckMs: 2_000,
  connectionsMax: 4_096,
  strangersPerAddressMax: 1_024,
  unreadBodyBytesMax: 32 * 1024 * 1024,
  requestsPerTurnMax: 4,
  turnMsMax: 12,
  pipelinedRequestsMax: 2_048,
}

/** Converts these limits to the form that fastify takes. */
export function toConnectionOptions(limits: ConnectionLimits) {
  return {
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.idleTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxRequestsPerSocket: limits.requestsPerSocketMax,
    // Node swaps these two when the first is the longer, so requestTimeout alone would bound only the headers.
    http: {
      headersTimeout: limits.requestTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.connectionsCheckMs,
      // Node would answer 400 by itself, as often as a caller asks. The hook before every request asks for the header.
      requireHostHeader: false,
    },
    forceCloseConnections: 'idle',
    // Fastify's answer does not have the form of the HTTP API, which gives its own.
    return503OnClosing: false,
  } as const
}
