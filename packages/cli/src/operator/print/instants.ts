import { formatDuration } from '@counterstep/explain'

/** The last instant that a date can have. A server's number may be any. */
const INSTANT_MAX = 8.64e15

export function formatInstant(at: number): string {
  return Number.isFinite(at) && Math.abs(at) <= INSTANT_MAX ? new Date(at).toISOString() : String(at)
}

/** Says how far an instant is away: `51 min ago`, `in 41 s`. */
export function formatDistance(at: number, now: number): string {
  return at > now ? `in ${formatDuration(at - now)}` : `${formatDuration(now - at)} ago`
}

/** Says both: `2026-11-24T02:48:03.120Z (51 min ago)`. */
export function formatBoth(at: number, now: number): string {
  return `${formatInstant(at)} (${formatDistance(at, now)})`
}
