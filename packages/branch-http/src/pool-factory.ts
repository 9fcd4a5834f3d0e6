import { type buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici'
import { boundAnswers } from './bounded-answers.ts'
import type { CallerOptions, OriginTls } from './caller-options.ts'
import { createGuardedConnector, guardLookup } from './guarded-connector.ts'
import { createListedCheck, UNLISTED_HEADER_BYTES_MAX } from './listed-origins.ts'
import type { OpenTurns } from './origin-turns.ts'
import { OUTGOING_CIPHERS, secureOptionsFor } from './outgoing-tls.ts'
import type { OriginReads } from './reading-time.ts'

/** An idle connection is given up this long before the service would close it, because news of a close takes time. */
const KEEP_ALIVE_MARGIN_MS = 1_000

/**
 * Returns a function that makes undici's pool of connections to one origin. The pool has the bounds of this caller, and
 * none of undici's own timeouts.
 */
export function createPoolFactory(
  options: CallerOptions,
  openTurns: OpenTurns,
): (originKey: string) => Dispatcher {
  const { targets, connectTimeoutMs, keepAliveMs, proxyUrl } = options
  const mayReach = (hostname: string, address: string) => targets.mayReach(hostname, address)
  const lookup = guardLookup(mayReach, options.lookup)
  const poolOptions: Pool.Options = {
    connections: options.connectionsPerOriginMax,
    allowH2: false,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
    // The wheel has the one deadline of a call, and an attempt bounds the body that it reads.
    headersTimeout: 0,
    bodyTimeout: 0,
  }
  const isListed = createListedCheck(options.listedOrigins)
  return function createPool(originKey) {
    const tls = options.tls.get(originKey)
    const { answerHeaderBytesMax: bytesMax } = options
    const maxHeaderSize = isListed(originKey) ? bytesMax : Math.min(bytesMax, UNLISTED_HEADER_BYTES_MAX)
    const turns = openTurns(originKey)
    const own = { ...poolOptions, maxHeaderSize }
    if (proxyUrl !== undefined)
      return createTunnelledPool(own, { proxyUrl, connectTimeoutMs, tls, reads: turns.reads })
    const connect = createGuardedConnector({ mayReach, lookup, connectTimeoutMs, tls, ...turns })
    return new Pool(originKey, { ...own, connect })
  }
}

interface Tunnel {
  readonly proxyUrl: string
  readonly connectTimeoutMs: number
  readonly tls: OriginTls | undefined
  readonly reads: OriginReads
}

/**
 * Makes the pool for an origin behind a proxy. Plain http goes through a tunnel too, because otherwise the proxy
 * would answer in place of a service that it cannot reach.
 */
function createTunnelledPool(
  poolOptions: Pool.Options,
  { proxyUrl, connectTimeoutMs, tls, reads }: Tunnel,
): Dispatcher {
  return new ProxyAgent({
    ...poolOptions,
    uri: proxyUrl,
    proxyTunnel: true,
    connectTimeout: connectTimeoutMs,
    requestTls: { ...tls, ciphers: OUTGOING_CIPHERS, secureOptions: secureOptionsFor(tls) },
    factory: (originUrl, given) => {
      const { connect, ...rest } = given as { connect: buildConnector.connector }
      return new Pool(originUrl, { ...rest, connect: boundAnswers(connect, reads) })
    },
    clientFactory: (url, given) => new Pool(url, { ...given, headersTimeout: connectTimeoutMs }),
  })
}
