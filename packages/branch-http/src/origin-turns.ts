import type { CallerOptions } from './caller-options.ts'
import { HandshakeRests, type OriginHandshakes } from './handshake-rests.ts'
import { createListedCheck } from './listed-origins.ts'
import { LISTED_SHARE, type OriginReads, ReadingTime, UNLISTED_SHARE } from './reading-time.ts'

/** The connections of one origin are read and begun by these, which share the time of the event loop with others, over HTTP and gRPC. */
export interface OriginTurns {
  readonly reads: OriginReads
  readonly handshakes: OriginHandshakes
}

export type OpenTurns = (originKey: string) => OriginTurns

export function createOpenTurns({ listedOrigins }: Pick<CallerOptions, 'listedOrigins'>): OpenTurns {
  const isListed = createListedCheck(listedOrigins)
  const listedTime = new ReadingTime(LISTED_SHARE)
  const unlistedTime = new ReadingTime(UNLISTED_SHARE)
  const rests = new HandshakeRests()
  return (originKey) => ({
    reads: (isListed(originKey) ? listedTime : unlistedTime).openOrigin(),
    handshakes: rests.openOrigin(originKey, isListed(originKey)),
  })
}
