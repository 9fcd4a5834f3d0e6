import type { Clock } from '@counterstep/core'
import { MinHeap } from './min-heap.ts'

/**
 * Many instants, one timer. There is no taking back: who is called and has nothing to do does nothing.
 * Alarms of one millisecond share a place in the heap, since a busy node sets thousands a second.
 */
export class AlarmClock {
  readonly #clock: Clock
  readonly #instants = new MinHeap<undefined>()
  readonly #alarms = new Map<number, (() => void)[]>()
  #timerAt = Number.POSITIVE_INFINITY
  #cancel: () => void = () => undefined
  #stopped = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    let size = 0
    for (const alarms of this.#alarms.values()) size += alarms.length
    return size
  }

  /** Calls back once, not before `wantedAt` (by the clock); alarms of one millisecond in the order of the calls. */
  ringAt(wantedAt: number, callback: () => void): void {
    if (this.#stopped) return
    const at = Math.ceil(wantedAt)
    const others = this.#alarms.get(at)
    if (others === undefined) {
      this.#alarms.set(at, [callback])
      this.#instants.push(at, undefined)
    } else others.push(callback)
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
    const due: (() => void)[][] = []
    for (let at = this.#instants.firstKey; at !== undefined && at <= now; at = this.#instants.firstKey) {
      this.#instants.pop()
      due.push(this.#alarms.get(at) ?? [])
      this.#alarms.delete(at)
    }
    // Called when the heap is left: one that rings itself again at once waits for a timer, and does not hold the loop.
    for (const alarms of due) for (const callback of alarms) callback()
    const next = this.#instants.firstKey
    if (next !== undefined && !this.#stopped && next < this.#timerAt) this.#setTimer(next)
  }
}
