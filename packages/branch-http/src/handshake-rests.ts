/**
 * A handshake whose reads have taken longer than this to compute is costly. One with a chain that is trusted takes a few milliseconds. OpenSSL
 * checks each signature of a chain that nothing trusts, and 32 KiB of certificates on slow curves are 90 signatures of 15 ms each.
 */
const COSTLY_MS = 50
/** The origin and the address of a costly handshake rest for so many times as long. */
const REST_TIMES = 100
/**
 * All origins that are not listed rest together for so many times as long, because one caller may name any number of them. Those
 * that were trusted, and have not been costly since, go on.
 */
const SHARED_REST_TIMES = 4
const REST_MS_MAX = 300_000
/** So many origins and addresses that rest are remembered, and as many origins that were trusted. The oldest is forgotten first. */
const KEYS_MAX = 2_048
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

  isTrusted(origin: string): boolean {
    return this.#trusted.has(origin)
  }

  trust(origin: string): void {
    this.#trusted.delete(origin)
    this.#trusted.add(origin)
    forgetOldest(this.#trusted)
  }

  distrust(origin: string): void {
    this.#trusted.delete(origin)
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

  /** Returns undefined while the origin or its address rests. An address that listed services share is not held against them. */
  begin(address: string): Handshake | undefined {
    const origin = `origin ${this.#originKey}`
    const own = this.#isListed ? [origin] : [origin, `address ${address}`]
    const handshake = new Handshake(this.#rests, origin, own, this.#isListed ? [] : [SHARED_KEY])
    return handshake.mayGoOn ? handshake : undefined
  }
}

/** One handshake that is under way. The time that it takes is counted as it goes on, because a service may leave it unfinished. */
export class Handshake {
  readonly #rests: HandshakeRests
  readonly #origin: string
  readonly #own: readonly string[]
  readonly #shared: readonly string[]
  #tookMs = 0
  #isOver = false

  constructor(rests: HandshakeRests, origin: string, own: readonly string[], shared: readonly string[]) {
    this.#rests = rests
    this.#origin = origin
    this.#own = own
    this.#shared = shared
  }

  get #isCostly(): boolean {
    return this.#tookMs > COSTLY_MS
  }

  /** False: another handshake has been costly. */
  get mayGoOn(): boolean {
    if (this.#isOver || this.#isCostly) return true
    const shared = this.#rests.isTrusted(this.#origin) ? [] : this.#shared
    return !this.#rests.isResting([...this.#own, ...shared])
  }

  addMs(tookMs: number): void {
    if (this.#isOver) return
    this.#tookMs += tookMs
    if (!this.#isCostly) return
    this.#rests.distrust(this.#origin)
    for (const key of this.#own) this.#rests.begin(key, this.#tookMs * REST_TIMES, this)
    for (const key of this.#shared) this.#rests.begin(key, this.#tookMs * SHARED_REST_TIMES, this)
  }

  /** The service is trusted, and its handshake was slow by chance, as in a garbage collection. */
  succeed(): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#isCostly) this.#rests.end([...this.#own, ...this.#shared], this)
    else this.#rests.trust(this.#origin)
  }
}
