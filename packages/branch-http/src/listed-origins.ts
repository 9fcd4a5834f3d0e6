import { toOrigin } from './targets/target-url.ts'

/** The calls in flight at all origins that are not listed, together. */
export const UNLISTED_IN_FLIGHT_MAX = 512
/** The head of an answer may have so many bytes there, 32 for each field included. Proxies commonly take as many from a service. */
export const UNLISTED_HEADER_BYTES_MAX = 8 * 1_024

/** Returns a function that tells whether the configuration names an origin, and no pattern that fits it. */
export function createListedCheck(listedOrigins: readonly string[]): (originKey: string) => boolean {
  const listed = new Set(listedOrigins.map((origin) => toOrigin(new URL(origin))))
  return (originKey) => listed.has(originKey)
}
