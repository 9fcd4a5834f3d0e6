import { DEFAULT_SETTINGS } from '@counterstep/engine'
import { RETRY_CAP_MS_MAX, RETRY_LIMIT_MAX, type RetryPolicy, TIMEOUT_MS_MAX } from '@counterstep/protocol'
import type { DtmRequest } from '../wire/read-request.ts'

/** DTM's own defaults. */
export const RETRY_INTERVAL_S = 10
export const REQUEST_TIMEOUT_MS = 3_000
export const TIMEOUT_TO_FAIL_S = 35

/** Where DTM's interval doubles without an end. A longer interval of the request is its own cap. */
const RETRY_CAP_MS = 60_000
/**
 * The first wait of a request with a retry_limit alone. Its users expect the turn within seconds, and DTM would try
 * again at once.
 */
const LIMITED_RETRY_MS = 200

/** Returns the parts that the definitions of all kinds have. */
export function commonDefinition(request: DtmRequest) {
  return {
    retry: retryPolicy(request),
    timeoutMs: requestTimeoutMs(request),
    checkpointMs: DEFAULT_SETTINGS.checkpointMs,
    // DTM's services answer 200 with the word in the body; with this off the status alone would count.
    wordsCount: true,
  } as const
}

export function requestTimeoutMs({ request_timeout }: DtmRequest): number {
  return request_timeout > 0 ? Math.min(request_timeout * 1_000, TIMEOUT_MS_MAX) : REQUEST_TIMEOUT_MS
}

function retryPolicy({ retry_interval, retry_limit }: DtmRequest): RetryPolicy {
  const initialMs = Math.min(initialRetryMs(retry_interval, retry_limit), RETRY_CAP_MS_MAX)
  return {
    initialMs,
    factor: 2,
    capMs: Math.max(initialMs, RETRY_CAP_MS),
    jitter: 1,
    // DTM counts the calls after the first.
    limit: retry_limit > 0 ? Math.min(retry_limit + 1, RETRY_LIMIT_MAX) : null,
  }
}

function initialRetryMs(intervalS: number, limit: number): number {
  if (intervalS > 0) return intervalS * 1_000
  return limit > 0 ? LIMITED_RETRY_MS : RETRY_INTERVAL_S * 1_000
}
