import type { CallerOptions } from './caller-options.ts'
import { createListedCheck } from './listed-origins.ts'
import { LISTED_SHARE, type OriginReads, ReadingTime, UNLISTED_SHARE } from './reading-time.ts'

/** Opens the reads of one more origin, which share the time of the event loop with all origins of their kind, over HTTP and gRPC. */
export type OpenReads = (originKey: string) => OriginReads

export function createOpenReads({ listedOrigins }: Pick<CallerOptions, 'listedOrigins'>): OpenReads {
  const isListed = createListedCheck(listedOrigins)
  const listedTime = new ReadingTime(LISTED_SHARE)
  const unlistedTime = new ReadingTime(UNLISTED_SHARE)
  return (originKey) => (isListed(originKey) ? listedTime : unlistedTime).openOrigin()
}
