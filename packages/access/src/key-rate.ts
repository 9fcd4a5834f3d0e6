import { findOrMake } from './find-or-make.ts'

/** This many callers are counted at once. Beyond that the one that came first is forgotten and begins anew. */
const CALLERS_MAX = 10_000

interface Bucket {
  tokens: number
  filledAt: number
}

/**
 * Bounds the requests per second of each caller, which is the id of a key or the network of an address that needs none.
 * Each caller has a bucket that holds as many requests as one second allows.
 */
export class KeyRate {
  readonly #perS: number
  readonly #buckets = new Map<string, Bucket>()

  constructor(perS: number) {
    this.#perS = perS
  }

  /** Takes one request. Returns false if there is none left now. */
  take(caller: string, nowMs: number): boolean {
    const makeFull = () => ({ tokens: this.#perS, filledAt: nowMs })
    const bucket = findOrMake(this.#buckets, caller, makeFull, CALLERS_MAX)
    // A clock that goes back neither adds requests nor takes any.
    const gained = (Math.max(0, nowMs - bucket.filledAt) / 1_000) * this.#perS
    bucket.tokens = Math.min(this.#perS, bucket.tokens + gained)
    bucket.filledAt = nowMs
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }
}
