export interface TurnBounds {
  /** So many messages are received at once. */
  readonly receivingMax: number
  /** So many calls wait for their turn. With 0 the call that has taken longest loses its turn at once to a new one. */
  readonly waitingMax: number
  /** A message must be whole after this time. */
  readonly receiveMsMax: number
}

/** Each of these messages may hold as many bytes as a request may have. */
export const KEYED_BOUNDS: TurnBounds = { receivingMax: 32, waitingMax: 4_096, receiveMsMax: 15_000 }
/**
 * Anyone may make these calls, whose messages are small. A queue would let strangers fill it; a new call that takes the oldest turn
 * brings its message at once, if it is a health check.
 */
export const OPEN_BOUNDS: TurnBounds = { receivingMax: 64, waitingMax: 0, receiveMsMax: 1_000 }

/** A call that others wait for keeps its turn for so long at least. */
const TURN_MS_MIN = 250

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
  readonly #bounds: TurnBounds
  readonly #receiving = new Map<object, Receiving>()
  readonly #waiting = new Map<object, WaitingCall>()
  #timer: NodeJS.Timeout | undefined

  constructor(bounds: TurnBounds) {
    this.#bounds = bounds
  }

  /** Calls `begin` when it is the call's turn, and `onLate` if the call has lost it. Returns undefined if too many wait. */
  take(begin: () => void, onLate: () => void): Turn | undefined {
    const call = { begin, onLate }
    const { receivingMax, waitingMax } = this.#bounds
    if (waitingMax === 0) this.#endOldest()
    if (this.#receiving.size < receivingMax) this.#begin(call)
    else if (this.#waiting.size >= waitingMax) return undefined
    else {
      this.#waiting.set(call, call)
      this.#watch()
    }
    return { end: () => this.#end(call) }
  }

  /** Makes room for a call if there is none. */
  #endOldest(): void {
    const [oldest] = this.#receiving.keys()
    if (oldest !== undefined && this.#receiving.size >= this.#bounds.receivingMax) this.#endLate(oldest)
  }

  #begin(call: WaitingCall): void {
    const timer = setTimeout(() => this.#endLate(call), this.#bounds.receiveMsMax)
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
      if (this.#receiving.size >= this.#bounds.receivingMax) return
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
