import { toOwnedNetwork } from './targets/owned-network.ts'

/**
 * A handshake whose reads have taken longer than this to compute is costly. One with a chain that is trusted takes a few milliseconds. OpenSSL
 * checks each signature of a chain that nothing trusts, and 32 KiB of certificates on slow curves are 90 signatures of 15 ms each.
 */
const COSTLY_MS = 50
/** The origin and the network of a costly handshake rest for so many times as long. */
const REST_TIMES = 100
/**
 * All origins that are not listed rest together for so many times as long, because one caller may name any number of them. Those of
 * networks that were trusted, and have not been costly since, go on. They rest together in their turn once one of them is
 * costly, because a caller may own many networks, and be trusted at each before.
 */
const SHARED_REST_TIMES = 4
const REST_MS_MAX = 300_000
/** So many origins and networks that rest are remembered, and as many networks that were trusted. The oldest is forgotten first. */
const KEYS_MAX = 2_048
const UNKNOWN_KEY = 'unknown networks'
const TRUSTED_KEY = 'trusted networks'

/** No handshake is made, since one has been costly. */
export class RestingError extends Error {
  readonly code = 'COUNTERSTEP_COSTLY_HANDSHAKE'

  constructor() {
    super('a handshake with this service has taken too long to compute')
    this.name = 'RestingError'
  }
}

/** Knows where a handshake has been costly, so that none follows for a time. Connections that stand go on. */
export class HandshakeRests {
  readonly #byKey = new Map<string, { readonly until: number; readonly by: Handshake }>()
  readonly #trusted = new Set<string>()

  openOrigin(originKey: string, isListed: boolean): OriginHandshakes {
    return new OriginHandshakes(this, originKey, isListed)
  }

  isResting(keys: readonly string[]): boolean {
    const now = performance.now()
    return keys.some((key) => now < (this.#byKey.get(key)?.until ?? 0))
  }

  begin(key: string, restMs: number, by: Handshake): void {
    const until = performance.now() + Math.min(restMs, REST_MS_MAX)
    this.#byKey.delete(key)
    this.#byKey.set(key, { until, by })
    forgetOldest(this.#byKey)
  }

  isTrusted(network: string): boolean {
    return this.#trusted.has(network)
  }

  trust(network: string): void {
    this.#trusted.delete(network)
    this.#trusted.add(network)
    forgetOldest(this.#trusted)
  }

  /** Tells whether it was trusted until now. */
  distrust(network: string): boolean {
    return this.#trusted.delete(network)
  }

  /** Ends the rests that this handshake has begun, but for those that another one has begun anew. */
  end(keys: readonly string[], by: Handshake): void {
    for (const key of keys) if (this.#byKey.get(key)?.by === by) this.#byKey.delete(key)
  }
}

function forgetOldest(some: Pick<Map<string, unknown> | Set<string>, 'size' | 'keys' | 'delete'>): void {
  for (const oldest of some.keys()) {
    if (some.size <= KEYS_MAX) return
    some.delete(oldest)
  }
}

/** Begins the handshakes with one origin. */
export class OriginHandshakes {
  readonly #rests: HandshakeRests
  readonly #originKey: string
  readonly #isListed: boolean

  constructor(rests: HandshakeRests, originKey: string, isListed: boolean) {
    this.#rests = rests
    this.#originKey = originKey
    this.#isListed = isListed
  }

  /** Returns undefined while the origin or its network rests. A network that listed services share is not held against them. */
  begin(address: string): Handshake | undefined {
    const network = this.#isListed ? undefined : `network ${toOwnedNetwork(address)}`
    const handshake = new Handshake(this.#rests, `origin ${this.#originKey}`, network)
    return handshake.mayGoOn ? handshake : undefined
  }
}

/** One handshake that is under way. The time that it takes is counted as it goes on, because a service may leave it unfinished. */
export class Handshake {
  readonly #rests: HandshakeRests
  readonly #own: readonly string[]
  /** Undefined for an origin that is listed. It rests for itself alone. */
  readonly #network: string | undefined
  #tookMs = 0
  #wasTrusted = false
  #isOver = false

  constructor(rests: HandshakeRests, origin: string, network: string | undefined) {
    this.#rests = rests
    this.#own = network === undefined ? [origin] : [origin, network]
    this.#network = network
  }

  get #isCostly(): boolean {
    return this.#tookMs > COSTLY_MS
  }

  /** False: another handshake has been costly. */
  get mayGoOn(): boolean {
    if (this.#isOver || this.#isCostly) return true
    return !this.#rests.isResting([...this.#own, ...this.#findShared()])
  }

  addMs(tookMs: number): void {
    if (this.#isOver) return
    this.#tookMs += tookMs
    if (!this.#isCostly) return
    if (this.#network !== undefined) this.#wasTrusted ||= this.#rests.distrust(this.#network)
    for (const key of this.#own) this.#rests.begin(key, this.#tookMs * REST_TIMES, this)
    for (const key of this.#findOthers()) this.#rests.begin(key, this.#tookMs * SHARED_REST_TIMES, this)
  }

  /** The service is trusted, and its handshake was slow by chance, as in a garbage collection. */
  succeed(): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#isCostly) this.#rests.end([...this.#own, ...this.#findOthers()], this)
    else if (this.#network !== undefined) this.#rests.trust(this.#network)
  }

  /** Finds the shared rest that keeps this handshake from going on. */
  #findShared(): readonly string[] {
    if (this.#network === undefined) return []
    return [this.#rests.isTrusted(this.#network) ? TRUSTED_KEY : UNKNOWN_KEY]
  }

  /** Finds the shared rests that this handshake begins by being costly. */
  #findOthers(): readonly string[] {
    if (this.#network === undefined) return []
    return this.#wasTrusted ? [UNKNOWN_KEY, TRUSTED_KEY] : [UNKNOWN_KEY]
  }
}
