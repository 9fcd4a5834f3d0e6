import { type ConnectionLimits, DEFAULT_CONNECTION_LIMITS } from '@counterstep/access'

export interface ServerLimits extends ConnectionLimits {
  /** To answer anything but what may wait for an end, which the engine bounds by itself (store timeout plus wait). */
  readonly handlerTimeoutMs: number
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = { ...DEFAULT_CONNECTION_LIMITS, handlerTimeoutMs: 10_000 }

export const PARAM_LENGTH_MAX = 2_048
