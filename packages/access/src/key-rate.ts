import type { StoredKey } from './stored-key.ts'

interface Bucket {
  tokens: number
  filledAt: number
}

/** A bucket of one second's requests for each key. It goes with the key, so a file that is read again begins full ones. */
export class KeyRate {
  readonly #perS: number
  readonly #buckets = new WeakMap<StoredKey, Bucket>()

  constructor(perS: number) {
    this.#perS = perS
  }

  /** Takes one request. False: there is none left now. */
  take(key: StoredKey, nowMs: number): boolean {
    const bucket = this.#bucketOf(key, nowMs)
    // A clock that goes back gives nothing, and takes nothing.
    const gained = (Math.max(0, nowMs - bucket.filledAt) / 1_000) * this.#perS
    bucket.tokens = Math.min(this.#perS, bucket.tokens + gained)
    bucket.filledAt = nowMs
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }

  #bucketOf(key: StoredKey, nowMs: number): Bucket {
    const known = this.#buckets.get(key)
    if (known !== undefined) return known
    const full = { tokens: this.#perS, filledAt: nowMs }
    this.#buckets.set(key, full)
    return full
  }
}
