import { RETRY_CAP_MS_MAX } from '@counterstep/protocol'

const SECONDS = /^\d{1,15}$/
// All three forms of an HTTP-date (RFC 9110, 5.6.7) begin so. Date.parse alone would accept many other texts.
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /

/**
 * Reads Retry-After (RFC 9110, 10.2.3) as a wait between 0 and RETRY_CAP_MS_MAX. Returns undefined if it is neither a
 * number of seconds nor a date.
 */
export function retryAfterMs(header: string | string[] | undefined, now: () => number): number | undefined {
  const value = (Array.isArray(header) ? header[0] : header)?.trim()
  if (value === undefined) return undefined
  if (SECONDS.test(value)) return clampWait(Number(value) * 1000)
  if (!HTTP_DATE.test(value)) return undefined
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : clampWait(at - now())
}

function clampWait(waitMs: number): number {
  return Math.min(Math.max(waitMs, 0), RETRY_CAP_MS_MAX)
}
