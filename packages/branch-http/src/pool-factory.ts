import { type Dispatcher, Pool } from 'undici'
import type { CallerOptions } from './caller-options.ts'
import { guardedConnector, guardedLookup } from './guarded-connector.ts'
import { sharedLookup } from './shared-lookup.ts'

/** It takes us so long to hear that the other side has closed a connection that was taken for open. */
const KEEP_ALIVE_MARGIN_MS = 1_000

/** Makes the connections to one origin: undici's pool, with the bounds of this caller and none of undici's own times. */
export function poolFactory(options: CallerOptions): (originKey: string) => Dispatcher {
  const { targets, connectTimeoutMs, keepAliveMs } = options
  const mayReach = (hostname: string, address: string) => targets.mayReach(hostname, address)
  const lookup = guardedLookup(mayReach, sharedLookup(options.lookup))
  return function createPool(originKey) {
    return new Pool(originKey, {
      connect: guardedConnector({ mayReach, lookup, connectTimeoutMs }),
      connections: options.connectionsPerOriginMax,
      clientTtl: options.connectionAgeMsMax,
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      maxHeaderSize: options.answerHeaderBytesMax,
      // The wheel has the one deadline of a call, and an attempt bounds the body that it reads.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }
}
