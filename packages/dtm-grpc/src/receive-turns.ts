/** So many messages are received at once, each of which may hold as many bytes as a request may have. */
export const RECEIVING_MAX = 32
/** So many calls wait for their turn to be received. */
export const WAITING_MAX = 4_096
/** A call that others wait for keeps its turn for so long at least. */
const TURN_MS_MIN = 250
/** A message must be whole after this time. */
export const RECEIVE_MS_MAX = 15_000

export interface Turn {
  /** The message is whole, or will never come. */
  end(): void
}

interface Receiving {
  readonly since: number
  readonly timer: NodeJS.Timeout
  readonly onLate: () => void
}

interface WaitingCall {
  readonly begin: () => void
  readonly onLate: () => void
}

/**
 * Bounds the bytes of messages that are not whole. While all turns are taken, the call that has taken longest loses its turn to one
 * that waits, so that callers who send slowly never keep the others out.
 */
export class ReceiveTurns {
  readonly #receiving = new Map<object, Receiving>()
  readonly #waiting = new Map<object, WaitingCall>()
  #timer: NodeJS.Timeout | undefined

  /** Calls `begin` when it is the call's turn, and `onLate` if the call has lost it. Returns undefined if too many wait. */
  take(begin: () => void, onLate: () => void): Turn | undefined {
    const call = { begin, onLate }
    if (this.#receiving.size < RECEIVING_MAX) this.#begin(call)
    else if (this.#waiting.size >= WAITING_MAX) return undefined
    else {
      this.#waiting.set(call, call)
      this.#watch()
    }
    return { end: () => this.#end(call) }
  }

  #begin(call: WaitingCall): void {
    const timer = setTimeout(() => this.#endLate(call), RECEIVE_MS_MAX)
    timer.unref()
    this.#receiving.set(call, { since: performance.now(), timer, onLate: call.onLate })
    call.begin()
  }

  #end(call: object): void {
    this.#waiting.delete(call)
    const receiving = this.#receiving.get(call)
    if (receiving === undefined) return
    clearTimeout(receiving.timer)
    this.#receiving.delete(call)
    this.#beginNext()
  }

  #endLate(call: object): void {
    const receiving = this.#receiving.get(call)
    this.#end(call)
    receiving?.onLate()
  }

  #beginNext(): void {
    for (const [key, next] of this.#waiting) {
      if (this.#receiving.size >= RECEIVING_MAX) return
      this.#waiting.delete(key)
      this.#begin(next)
    }
  }

  /** Takes the turn of the slowest call while others wait. */
  #watch(): void {
    if (this.#timer !== undefined || this.#waiting.size === 0) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      const now = performance.now()
      const slow = [...this.#receiving].filter(([, { since }]) => now - since >= TURN_MS_MIN)
      for (const [call] of slow.slice(0, this.#waiting.size)) this.#endLate(call)
      this.#watch()
    }, TURN_MS_MIN)
    this.#timer.unref()
  }
}
