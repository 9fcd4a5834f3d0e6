import { BranchError } from '../branch/branch-errors.ts'
import { toSignatureError } from './signature-refusal.ts'

/**
 * Says for how long a signature may be good: the clock of its sender may be 300 s ahead, and the signature is good for
 * 300 s by that clock.
 */
const REMEMBERED_S = 600
const CALLS_MAX = 10_000_000
// So many letters of a signature's base64 are kept. They have 128 bits, which a caller cannot choose.
const KEY_LENGTH = 22

/**
 * Holds the signatures of the last ten minutes, up to a bound. Only calls with a right signature come in, so a forger
 * cannot fill it.
 */
export class SeenCalls {
  readonly #callsMax: number
  /** Maps each signature to the time at which it came, the oldest first. */
  readonly #seen = new Map<string, number>()

  constructor(callsMax: number) {
    if (!Number.isSafeInteger(callsMax) || callsMax < 0 || callsMax > CALLS_MAX) {
      throw new TypeError(`callsRememberedMax must be a whole number from 0 to ${CALLS_MAX}`)
    }
    this.#callsMax = callsMax
  }

  /**
   * Remembers a signature. `nowS` has to be an instant at which the signature is still good, because otherwise an
   * earlier call with it may be forgotten already. Throws if the signature was seen, or if there is no room to remember
   * it, because a second call could then not be recognized.
   */
  add(signature: Buffer, nowS: number): void {
    if (this.#callsMax === 0) return
    for (const [key, at] of this.#seen) {
      if (nowS - at <= REMEMBERED_S) break
      this.#seen.delete(key)
    }
    const key = signature.toString('base64').slice(0, KEY_LENGTH)
    if (this.#seen.has(key)) throw toSignatureError('replayed')
    if (this.#seen.size >= this.#callsMax) {
      throw new BranchError('BRANCH_MEMORY_FULL', 'too many calls of ten minutes: raise callsRememberedMax')
    }
    this.#seen.set(key, nowS)
  }
}
