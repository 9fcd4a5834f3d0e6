import type { Attempt } from './attempt.ts'
import type { CallerOptions } from './caller-options.ts'
import { DeadlineWheel } from './deadline-wheel.ts'
import type { GrpcAttempt } from './grpc/grpc-attempt.ts'
import type { InProcessAttempt } from './in-process/in-process-attempt.ts'
import { createListedCheck, UNLISTED_IN_FLIGHT_MAX } from './listed-origins.ts'
import type { Connections } from './origin.ts'
import { Origins } from './origins.ts'
import { SharedPlaces } from './shared-places.ts'

/** The deadline of a call may be noticed this late. */
const DEADLINE_TICK_MS = 25

/** The scheme of an origin decides which of them it is called with. */
export type AnyAttempt = Attempt | GrpcAttempt | InProcessAttempt

type AnyConnections = Connections<Attempt> | Connections<GrpcAttempt> | Connections<InProcessAttempt>

/** Holds what all calls share, over whichever protocol they go, so that the bounds hold for them together. */
export interface CallerOrigins {
  readonly wheel: DeadlineWheel
  readonly origins: Origins<AnyAttempt>
}

export function createCallerOrigins(
  options: CallerOptions,
  createDispatcher: (originKey: string) => AnyConnections,
): CallerOrigins {
  const wheel = new DeadlineWheel(DEADLINE_TICK_MS)
  const isListed = createListedCheck(options.listedOrigins)
  const shared = new SharedPlaces(UNLISTED_IN_FLIGHT_MAX)
  const origins = new Origins<AnyAttempt>(wheel, {
    originsMax: options.originsMax,
    originIdleMs: options.originIdleMs,
    inFlightMax: options.connectionsPerOriginMax,
    queuedMax: options.queuedPerOriginMax,
    connectionAgeMsMax: options.connectionAgeMsMax,
    createDispatcher,
    findShared: (originKey) => (isListed(originKey) ? undefined : shared),
  })
  return { wheel, origins }
}
