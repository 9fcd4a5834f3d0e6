import { HolderQueue } from '@counterstep/access'

export interface TurnBounds {
  /** So many messages are received at once. */
  readonly receivingMax: number
  /** So many calls wait for their turn. With 0 the call that has taken longest loses its turn at once to a new one. */
  readonly waitingMax: number
  /** So many of them are of one caller. */
  readonly waitingOfCallerMax: number
  /** A message must be whole after this time. */
  readonly receiveMsMax: number
}

/** Each of these messages may hold as many bytes as a request may have. */
export const KEYED_BOUNDS: TurnBounds = {
  receivingMax: 32,
  waitingMax: 4_096,
  waitingOfCallerMax: 512,
  receiveMsMax: 15_000,
}
/**
 * Anyone may make these calls, whose messages are small. A queue would let strangers fill it; a new call that takes the oldest turn
 * brings its message at once, if it is a health check.
 */
export const OPEN_BOUNDS: TurnBounds = {
  receivingMax: 64,
  waitingMax: 0,
  waitingOfCallerMax: 0,
  receiveMsMax: 1_000,
}

/** A call that others wait for keeps its turn for so long at least. */
const TURN_MS_MIN = 250

export interface Turn {
  /** The message is whole, or will never come. */
  end(): void
}

interface Call {
  /** The name of its caller. */
  readonly holder: string
  readonly begin: () => void
  readonly onLate: () => void
}

interface Receiving {
  readonly since: number
  readonly timer: NodeJS.Timeout
}

/**
 * Bounds the bytes of messages that are not whole. Callers take turns, so that one with thousands of calls delays another by one of them. While
 * all turns are taken, slow calls lose their turns to those that wait: to others of their caller, and where the caller has more than its share to
 * those of all. So callers who send slowly never keep the others out.
 */
export class ReceiveTurns {
  readonly #bounds: TurnBounds
  /** The oldest comes first. */
  readonly #receiving = new Map<Call, Receiving>()
  readonly #waiting = new HolderQueue<Call>()
  #timer: NodeJS.Timeout | undefined

  constructor(bounds: TurnBounds) {
    this.#bounds = bounds
  }

  /** Calls `begin` when it is the call's turn, and `onLate` if the call has lost it. Returns undefined if too many wait. */
  take(caller: string, begin: () => void, onLate: () => void): Turn | undefined {
    const call = { holder: caller, begin, onLate }
    const { receivingMax, waitingMax, waitingOfCallerMax } = this.#bounds
    if (waitingMax === 0) this.#endOldest()
    if (this.#receiving.size < receivingMax) this.#begin(call)
    else if (this.#waiting.size >= waitingMax || this.#waiting.count(caller) >= waitingOfCallerMax)
      return undefined
    else {
      this.#waiting.add(call)
      this.#watch()
    }
    return { end: () => this.#end(call) }
  }

  /** Makes room for a call if there is none. */
  #endOldest(): void {
    const [oldest] = this.#receiving.keys()
    if (oldest !== undefined && this.#receiving.size >= this.#bounds.receivingMax) this.#endLate(oldest)
  }

  #begin(call: Call): void {
    const timer = setTimeout(() => this.#endLate(call), this.#bounds.receiveMsMax)
    timer.unref()
    this.#receiving.set(call, { since: performance.now(), timer })
    call.begin()
  }

  #end(call: Call): void {
    this.#waiting.delete(call)
    const receiving = this.#receiving.get(call)
    if (receiving === undefined) return
    clearTimeout(receiving.timer)
    this.#receiving.delete(call)
    this.#beginNext()
  }

  #endLate(call: Call): void {
    this.#end(call)
    call.onLate()
  }

  #beginNext(): void {
    while (this.#receiving.size < this.#bounds.receivingMax) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.#begin(next)
    }
  }

  /** Takes turns of slow calls while others wait. */
  #watch(): void {
    if (this.#timer !== undefined || this.#waiting.size === 0) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      for (const call of this.#chooseSlow(this.#waiting.size)) this.#endLate(call)
      this.#watch()
    }, TURN_MS_MIN)
    this.#timer.unref()
  }

  /** Chooses at most so many slow calls, each of the caller that would have the most turns left, and of its calls the oldest. */
  #chooseSlow(count: number): readonly Call[] {
    const now = performance.now()
    const ofCallers = new Map<string, number>()
    for (const { holder } of this.#receiving.keys()) ofCallers.set(holder, (ofCallers.get(holder) ?? 0) + 1)
    const callers = new Set([...ofCallers.keys(), ...this.#waiting.holders()])
    const share = this.#bounds.receivingMax / callers.size
    const mayLose = (holder: string) =>
      (ofCallers.get(holder) ?? 0) >= share || this.#waiting.count(holder) > 0
    const slow = [...this.#receiving].filter(([, { since }]) => now - since >= TURN_MS_MIN)
    const chosen = new Set<Call>()
    while (chosen.size < count) {
      const left = slow.map(([call]) => call).filter((call) => !chosen.has(call) && mayLose(call.holder))
      const most = Math.max(...left.map(({ holder }) => ofCallers.get(holder) ?? 0))
      const call = left.find(({ holder }) => ofCallers.get(holder) === most)
      if (call === undefined) break
      chosen.add(call)
      ofCallers.set(call.holder, most - 1)
    }
    return [...chosen]
  }
}
