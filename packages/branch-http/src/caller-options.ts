import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { CallSigner } from '@counterstep/signature'
import { shareLookup } from './shared-lookup.ts'
import { loopbackTargets, type TargetPolicy } from './targets/target-policy.ts'

export interface HttpBranchCallerOptions extends Partial<CallerLimits> {
  /** It decides where calls may go. By default they may go to this machine only. */
  readonly targets?: TargetPolicy
  /**
   * Finds the addresses of a name. Calls that need the same name at the same time share one look-up, and
   * names that are not listed are looked up one after the other. The default is the system's.
   */
  readonly lookup?: LookupFunction
  /**
   * These are the origins that the configuration names one by one. Their names are looked up even while the look-ups of
   * many other names hang. By default there are none.
   */
  readonly listedOrigins?: readonly string[]
  /** If it is true, the first bytes of an answer's body are kept, to be shown to people. The default is true. */
  readonly answerExcerpts?: boolean
  /** Signs each attempt when it is sent. By default nothing is signed. */
  readonly signer?: CallSigner | undefined
  /**
   * It maps an origin, for example `https://bank.example:8443`, to its certificates. By default Node's authorities are
   * trusted, and no client certificate is shown.
   */
  readonly tls?: ReadonlyMap<string, OriginTls>
  /**
   * Every connection, also of plain http, goes through this proxy by a tunnel (CONNECT). The proxy looks up the names, so
   * the addresses behind them are not checked here. By default there is no proxy, and the environment is never asked.
   */
  readonly proxyUrl?: string | undefined
}

/** Every field is PEM. A certificate and its key come together. */
export interface OriginTls {
  /** These authorities are trusted in place of Node's. */
  readonly ca?: string | undefined
  /** This certificate is shown to a service that asks for one. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** The options after every default is filled in. */
export type CallerOptions = Required<HttpBranchCallerOptions>

/** Holds the bounds of a caller. All are positive integers. A bound that is left out has the default beside it. */
export interface CallerLimits {
  /** At most this many calls to one origin may be in flight, each on a connection of its own. The default is 128. */
  readonly connectionsPerOriginMax: number
  /**
   * At most this many calls may wait for a connection to one origin. One more is answered `busy`. The default is 8,192.
   */
  readonly queuedPerOriginMax: number
  /**
   * At most this many origins may have connections. One more takes the room of the origin that has been idle longest,
   * and is answered `busy` if none is idle. The default is 8,192, which is how many calls an engine has in flight by
   * default, so that origins that hang cannot make the calls to all others `busy`.
   */
  readonly originsMax: number
  /** An origin that had no call for this long is closed when a new origin comes. The default is 60,000. */
  readonly originIdleMs: number
  /** At least this many parsed URLs are kept, and at most twice as many. The default is 2,048. */
  readonly targetsMax: number
  /** TCP and TLS together may take this long. The default is 2,000. */
  readonly connectTimeoutMs: number
  /** An idle connection is kept for this long, or less if the service's Keep-Alive says so. The default is 4,000. */
  readonly keepAliveMs: number
  /**
   * An older connection takes no further call, so that a name that has moved is looked up again even if its
   * connections are always busy. The default is 60,000.
   */
  readonly connectionAgeMsMax: number
  /** The default is 1 MiB. */
  readonly answerBodyBytesMax: number
  /** Each field counts 32 bytes beside its own. The default is 16 KiB. At origins that are not listed it is 8 KiB at most. */
  readonly answerHeaderBytesMax: number
}

export const DEFAULT_CALLER_LIMITS: CallerLimits = {
  connectionsPerOriginMax: 128,
  queuedPerOriginMax: 8_192,
  originsMax: 8_192,
  originIdleMs: 60_000,
  targetsMax: 2_048,
  connectTimeoutMs: 2_000,
  keepAliveMs: 4_000,
  connectionAgeMsMax: 60_000,
  answerBodyBytesMax: 1024 * 1024,
  answerHeaderBytesMax: 16 * 1024,
}

/** Throws on the first bad bound or certificate, so that a wrong configuration ends at the start. */
export function checkOptions(options: HttpBranchCallerOptions): CallerOptions {
  const {
    targets = loopbackTargets(),
    lookup = systemLookup as LookupFunction,
    listedOrigins = [],
    answerExcerpts = true,
    signer,
    tls = new Map(),
    proxyUrl,
    ...limits
  } = options
  const checked = { ...DEFAULT_CALLER_LIMITS, ...limits }
  for (const [name, value] of Object.entries(checked)) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new RangeError(`${name} must be a positive integer, got ${String(value)}`)
    }
  }
  for (const [origin, certificates] of tls) {
    // Certificates under another spelling would never be found, and the calls would trust Node's authorities.
    if (!origin.startsWith('https:') || URL.parse(origin)?.origin !== origin)
      throw new TypeError(
        'tls must have https origins as they are called: https://bank.example, no path and no port 443',
      )
    createSecureContext(certificates)
  }
  const listedHosts = new Set(listedOrigins.map((origin) => new URL(origin).hostname))
  const shared = shareLookup(lookup, listedHosts)
  return { ...checked, targets, lookup: shared, listedOrigins, answerExcerpts, signer, tls, proxyUrl }
}
