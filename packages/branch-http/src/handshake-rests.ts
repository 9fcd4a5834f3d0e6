import { findSite } from './find-site.ts'

/**
 * A handshake whose reads have taken longer than this to compute is costly. One with a chain that is trusted takes a few milliseconds. OpenSSL
 * checks each signature of a chain that nothing trusts, and 32 KiB of certificates on slow curves are 90 signatures of 15 ms each.
 */
const COSTLY_MS = 50
/** The origin and the address of a costly handshake rest for so many times as long. */
const REST_TIMES = 100
/**
 * All origins that are not listed rest together for so many times as long, because one caller may name any number of them. Those of
 * sites that were trusted, and have not been costly for a while, go on.
 */
const SHARED_REST_TIMES = 4
const REST_MS_MAX = 300_000
/** A site that was costly is not trusted again for so long, because a caller may own many and make them all costly by turns. */
const DISTRUST_MS = 3_600_000
/**
 * So many origins, addresses and sites are remembered that have been costly, and as many sites that were trusted. The oldest is
 * forgotten first.
 */
const KEYS_MAX = 16_384
const SHARED_KEY = 'unlisted'

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
  /** When the rest ends that each handshake has begun, by key. There are few, because each has taken a while to compute. */
  readonly #byKey = new Map<string, Map<Handshake, number>>()
  readonly #trusted = new Set<string>()

  openOrigin(originKey: string, isListed: boolean): OriginHandshakes {
    return new OriginHandshakes(this, originKey, isListed)
  }

  isResting(keys: readonly string[]): boolean {
    const now = performance.now()
    return keys.some((key) => [...(this.#byKey.get(key)?.values() ?? [])].some((until) => now < until))
  }

  begin(key: string, restMs: number, by: Handshake): void {
    const now = performance.now()
    const rests = this.#byKey.get(key) ?? new Map<Handshake, number>()
    for (const [handshake, until] of rests) if (until <= now) rests.delete(handshake)
    rests.set(by, now + restMs)
    this.#byKey.delete(key)
    this.#byKey.set(key, rests)
    forgetOldest(this.#byKey)
  }

  isTrusted(site: string): boolean {
    return this.#trusted.has(site) && !this.isResting([site])
  }

  trust(site: string): void {
    this.#trusted.delete(site)
    this.#trusted.add(site)
    forgetOldest(this.#trusted)
  }

  /** Ends the rests that this handshake has begun. Those that others have begun go on. */
  end(keys: readonly string[], by: Handshake): void {
    for (const key of keys) {
      const rests = this.#byKey.get(key)
      rests?.delete(by)
      if (rests?.size === 0) this.#byKey.delete(key)
    }
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

  /** Returns undefined while the origin or its address rests. An address that listed services share is not held against them. */
  begin(address: string): Handshake | undefined {
    const origin = `origin ${this.#originKey}`
    const handshake = this.#isListed
      ? new Handshake(this.#rests, [origin])
      : new Handshake(this.#rests, [origin, `address ${address}`], `site ${findSite(address)}`)
    return handshake.mayGoOn ? handshake : undefined
  }
}

/** One handshake that is under way. The time that it takes is counted as it goes on, because a service may leave it unfinished. */
export class Handshake {
  readonly #rests: HandshakeRests
  readonly #own: readonly string[]
  /** Undefined for an origin that is listed. It does not rest with others, so that it needs no trust. */
  readonly #site: string | undefined
  #tookMs = 0
  #isOver = false

  constructor(rests: HandshakeRests, own: readonly string[], site?: string) {
    this.#rests = rests
    this.#own = own
    this.#site = site
  }

  get #isCostly(): boolean {
    return this.#tookMs > COSTLY_MS
  }

  /** False: another handshake has been costly. */
  get mayGoOn(): boolean {
    if (this.#isOver || this.#isCostly) return true
    const needsTrust = this.#site !== undefined && !this.#rests.isTrusted(this.#site)
    return !this.#rests.isResting(needsTrust ? [...this.#own, SHARED_KEY] : this.#own)
  }

  addMs(tookMs: number): void {
    if (this.#isOver) return
    this.#tookMs += tookMs
    if (!this.#isCostly) return
    const restMs = (times: number) => Math.min(this.#tookMs * times, REST_MS_MAX)
    for (const key of this.#own) this.#rests.begin(key, restMs(REST_TIMES), this)
    if (this.#site === undefined) return
    this.#rests.begin(SHARED_KEY, restMs(SHARED_REST_TIMES), this)
    this.#rests.begin(this.#site, DISTRUST_MS, this)
  }

  /** The service is trusted, and its handshake was slow by chance, as in a garbage collection. */
  succeed(): void {
    if (this.#isOver) return
    this.#isOver = true
    const begun = this.#site === undefined ? this.#own : [...this.#own, SHARED_KEY, this.#site]
    if (this.#isCostly) this.#rests.end(begun, this)
    else if (this.#site !== undefined) this.#rests.trust(this.#site)
  }
}
