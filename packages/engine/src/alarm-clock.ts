import type { Clock } from '@counterstep/core'
import { MinHeap } from './min-heap.ts'

/** Many instants, one timer. There is no taking back: who is called and has nothing to do does nothing. */
export class AlarmClock {
  readonly #clock: Clock
  readonly #alarms = new MinHeap<() => void>()
  #timerAt = Number.POSITIVE_INFINITY
  #cancel: () => void = () => undefined
  #stopped = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#alarms.size
  }

  /** Calls back once, not before `at` (by the clock). */
  ringAt(at: number, callback: () => void): void {
    if (this.#stopped) return
    this.#alarms.push(at, callback)
    if (at < this.#timerAt) this.#setTimer(at)
  }

  stop(): void {
    this.#stopped = true
    this.#cancel()
  }

  #setTimer(at: number): void {
    this.#cancel()
    this.#timerAt = at
    this.#cancel = this.#clock.after(at - this.#clock.now(), () => this.#ring())
  }

  #ring(): void {
    this.#timerAt = Number.POSITIVE_INFINITY
    const now = this.#clock.now()
    const due: (() => void)[] = []
    for (let at = this.#alarms.firstKey; at !== undefined && at <= now; at = this.#alarms.firstKey) {
      const callback = this.#alarms.pop()
      if (callback !== undefined) due.push(callback)
    }
    // Called when the heap is left: one that rings itself again at once waits for a timer, and does not hold the loop.
    for (const callback of due) callback()
    const next = this.#alarms.firstKey
    if (next !== undefined && !this.#stopped && next < this.#timerAt) this.#setTimer(next)
  }
}
