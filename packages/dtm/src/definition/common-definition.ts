import { DEFAULT_SETTINGS } from '@counterstep/engine'
import { RETRY_CAP_MS_MAX, RETRY_LIMIT_MAX, type RetryPolicy, TIMEOUT_MS_MAX } from '@counterstep/protocol'
import type { DtmRequest } from '../wire/read-request.ts'
import { readProtocol } from './json-rpc.ts'

/** These are DTM's defaults for a request that names none. */
export const RETRY_INTERVAL_S = 10
export const REQUEST_TIMEOUT_MS = 3_000
export const TIMEOUT_TO_FAIL_S = 35

/** The wait between two calls grows up to this, or up to the request's own interval if that is longer. DTM's has no end. */
const RETRY_CAP_MS = 60_000
/**
 * The first wait of a request that has a `retry_limit` but no interval. Its users expect the rollback within seconds,
 * and DTM would try again at once.
 */
const LIMITED_RETRY_MS = 200

/** Returns the parts that the definitions of all kinds have. */
export function buildCommonDefinition(request: DtmRequest) {
  return {
    retry: readRetryPolicy(request),
    timeoutMs: readRequestTimeoutMs(request),
    checkpointMs: DEFAULT_SETTINGS.checkpointMs,
    // DTM's services may answer 200 with the word FAILURE or ONGOING in the body, so the body must count as well.
    wordsCount: true,
    ...readProtocol(request.protocol),
  } as const
}

export function readRequestTimeoutMs({ request_timeout }: DtmRequest): number {
  return request_timeout > 0 ? Math.min(request_timeout * 1_000, TIMEOUT_MS_MAX) : REQUEST_TIMEOUT_MS
}

function readRetryPolicy({ retry_interval, retry_limit }: DtmRequest): RetryPolicy {
  const initialMs = Math.min(chooseInitialRetryMs(retry_interval, retry_limit), RETRY_CAP_MS_MAX)
  return {
    initialMs,
    factor: 2,
    capMs: Math.max(initialMs, RETRY_CAP_MS),
    jitter: 1,
    // DTM's limit does not count the first call, and ours does.
    limit: retry_limit > 0 ? Math.min(retry_limit + 1, RETRY_LIMIT_MAX) : null,
  }
}

function chooseInitialRetryMs(intervalS: number, limit: number): number {
  if (intervalS > 0) return intervalS * 1_000
  return limit > 0 ? LIMITED_RETRY_MS : RETRY_INTERVAL_S * 1_000
}
