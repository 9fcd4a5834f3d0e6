import { toRateLimitedError } from '../errors.ts'

/** So many logins of one key are under way or wait for their turn. */
const LOGINS_OF_KEY_AT_ONCE_MAX = 5

/**
 * Lets the logins of this node come one after the other. Each counts the sessions and then adds one, so several at once
 * would all find the same room.
 */
export class LoginTurns {
  #last: Promise<unknown> = Promise.resolve()
  readonly #ofKeys = new Map<string, number>()

  /** Throws SAGA_RATE_LIMITED if too many logins of this key wait already, so that they hold up no other key for long. */
  async take<T>(keyId: string, logIn: () => Promise<T>): Promise<T> {
    const before = this.#ofKeys.get(keyId) ?? 0
    if (before >= LOGINS_OF_KEY_AT_ONCE_MAX) throw toRateLimitedError('too many logins with this key at once')
    this.#ofKeys.set(keyId, before + 1)
    const turn = this.#last.then(logIn)
    // Its caller gets the error of a login that fails. The next one follows in any case.
    this.#last = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      this.#leave(keyId)
    }
  }

  #leave(keyId: string): void {
    const left = (this.#ofKeys.get(keyId) ?? 0) - 1
    if (left > 0) this.#ofKeys.set(keyId, left)
    else this.#ofKeys.delete(keyId)
  }
}
