import type { Clock } from '@counterstep/core'
import { MinHeap } from './min-heap.ts'

/**
 * The alarms of one turn of the event loop may take this long, and so may the rows that are claimed and start. A caller may set the
 * deadlines of many transactions to one instant, and what follows from each may take milliseconds.
 */
export const TURN_MS_MAX = 5

/**
 * Rings many alarms by one timer. An alarm cannot be cancelled; a callback that has nothing to do must do nothing.
 * Alarms of one millisecond share a place in the heap, since a busy node sets thousands a second.
 */
export class AlarmClock {
  readonly #clock: Clock
  readonly #alarms = new MinHeap<(() => void)[]>()
  /** The same lists, by their instants. */
  readonly #alarmsAt = new Map<number, (() => void)[]>()
  /** These ring now, and those that a turn has no time for in the next one. */
  #due: (() => void)[] = []
  /** So many of them have rung. */
  #rung = 0
  #timerAt = Number.POSITIVE_INFINITY
  #cancel: () => void = () => undefined
  #stopped = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    let size = this.#due.length - this.#rung
    for (const alarms of this.#alarmsAt.values()) size += alarms.length
    return size
  }

  /**
   * Calls back once, not before `wantedAt` by the clock. Alarms of one
   * millisecond ring in the order in which they were set.
   */
  ringAt(wantedAt: number, callback: () => void): void {
    if (this.#stopped) return
    const at = Math.ceil(wantedAt)
    const others = this.#alarmsAt.get(at)
    if (others === undefined) {
      const alarms = [callback]
      this.#alarmsAt.set(at, alarms)
      this.#alarms.push(at, alarms)
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
    for (let at = this.#alarms.firstKey; at !== undefined && at <= now; at = this.#alarms.firstKey) {
      for (const callback of this.#alarms.pop() ?? []) this.#due.push(callback)
      this.#alarmsAt.delete(at)
    }
    // The callbacks run after the heap is done. One that sets itself again at
    // once waits for a timer, and does not block the loop.
    while (this.#rung < this.#due.length && this.#clock.now() - now < TURN_MS_MAX) this.#due[this.#rung++]?.()
    // A node that is never done with them would keep those that have rung.
    if (this.#rung * 2 >= this.#due.length) {
      this.#due = this.#due.slice(this.#rung)
      this.#rung = 0
    }
    const next = this.#due.length > 0 ? now : this.#alarms.firstKey
    if (next !== undefined && !this.#stopped && next < this.#timerAt) this.#setTimer(next)
  }
}
