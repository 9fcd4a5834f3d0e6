import { type ConnectionLimits, DEFAULT_CONNECTION_LIMITS } from '@counterstep/access'

export interface ServerLimits extends ConnectionLimits {
  /**
   * A handler must answer within this time, unless it may wait for the end of a transaction. The engine bounds such a
   * handler itself: by the wait, and by its time-out for calls of the store.
   */
  readonly handlerTimeoutMs: number
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = { ...DEFAULT_CONNECTION_LIMITS, handlerTimeoutMs: 10_000 }

export const PARAM_LENGTH_MAX = 2_048
