import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { CallSigner } from '@counterstep/signature'
import { loopbackTargets, type TargetPolicy } from './targets/target-policy.ts'

export interface HttpBranchCallerOptions extends Partial<CallerLimits> {
  /** Where calls may go. Default: this machine only. */
  readonly targets?: TargetPolicy
  /** Finds the addresses of a name; asked once for all who want the same name meanwhile. Default: the system's. */
  readonly lookup?: LookupFunction
  /**
   * Origins that the configuration names one by one. However many other names hang at their name server, these are looked
   * up. Default: none.
   */
  readonly listedOrigins?: readonly string[]
  /** Keep the first bytes of an answer's body, to be shown to people. Default: true. */
  readonly answerExcerpts?: boolean
  /** Signs each attempt when it is sent. Default: nothing is signed. */
  readonly signer?: CallSigner | undefined
  /** Certificates by origin, e.g. of `https://bank.example:8443`. Default: Node's authorities, and no client certificate. */
  readonly tls?: ReadonlyMap<string, OriginTls>
  /**
   * A proxy through which every connection goes, plain http too, by a tunnel (CONNECT). It looks up the names, so the
   * addresses behind them are not checked here. Default: none; the environment is never asked.
   */
  readonly proxyUrl?: string | undefined
}

/** Each is PEM. A certificate and its key come together. */
export interface OriginTls {
  /** The authorities that are trusted in place of Node's. */
  readonly ca?: string | undefined
  /** Shown to the other side if it asks who calls. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** The options after every default is filled in. */
export type CallerOptions = Required<HttpBranchCallerOptions>

/** The bounds of a caller. All are positive integers; what is left out has the default named beside it. */
export interface CallerLimits {
  /** Calls in flight to one origin, each on a connection of its own. Default 128. */
  readonly connectionsPerOriginMax: number
  /** Calls waiting for a connection to one origin; one more is answered `busy`. Default 8,192. */
  readonly queuedPerOriginMax: number
  /**
   * Origins with connections. Over it, the one idle longest makes room; if none is idle: `busy`. Default 8,192: as many as an
   * engine has calls in flight by default, so that origins that hang cannot make calls to all others `busy`.
   */
  readonly originsMax: number
  /** An origin without calls for so long is closed when a new one comes. Default 60,000. */
  readonly originIdleMs: number
  /** Parsed URLs that are kept at least; at most twice as many. Default 2,048. */
  readonly targetsMax: number
  /** For TCP and TLS together. Default 2,000. */
  readonly connectTimeoutMs: number
  /** How long an idle connection is kept, unless the other side's Keep-Alive says less. Default 4,000. */
  readonly keepAliveMs: number
  /**
   * An older connection takes no further call, so that a name which has moved is looked up again however busy its
   * connections are. Default 60,000.
   */
  readonly connectionAgeMsMax: number
  /** Default 1 MiB. */
  readonly answerBodyBytesMax: number
  /** Default 16 KiB. */
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
    // Under another spelling they would never be found, and the calls trust Node's authorities.
    if (!origin.startsWith('https:') || URL.parse(origin)?.origin !== origin)
      throw new TypeError(
        'tls must have https origins as they are called: https://bank.example, no path and no port 443',
      )
    createSecureContext(certificates)
  }
  return { ...checked, targets, lookup, listedOrigins, answerExcerpts, signer, tls, proxyUrl }
}
