/**
 * This is the time of a test. The store's clock and every node's clock show it, and it moves only when the test moves
 * it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '@counterstep/core'
import { MinHeap } from '../../src/min-heap.ts'

export const START_AT = 1_700_000_000_000
const TURNS_MAX = 200_000

interface Timer {
  readonly clock: NodeClock
  readonly callback: () => void
  isCancelled: boolean
}

export class FakeTime {
  /** This is the current instant by the store's clock. */
  now = START_AT
  readonly #timers = new MinHeap<Timer>()

  /** Lets all code go on that waits for promises only. */
  async flush(): Promise<void> {
    await nextTurn()
  }

  async advance(ms: number): Promise<void> {
    const until = this.now + ms
    await this.flush()
    for (let turns = 0; await this.#ringNext(until); turns++) {
      if (turns > TURNS_MAX) throw new Error('the timers never come to rest')
    }
    this.now = until
    await this.flush()
  }

  /** Rings timers until the condition holds. It fails when that takes longer than `limitMs` of this time. */
  async until(what: string, holds: () => boolean | Promise<boolean>, limitMs = 60_000): Promise<void> {
    const limit = this.now + limitMs
    await this.flush()
    for (let turns = 0; !(await holds()); turns++) {
      if (turns > TURNS_MAX || !(await this.#ringNext(limit)))
        throw new Error(`it never came to: ${what} (waited ${this.now - limit + limitMs} ms)`)
    }
  }

  clock(originAt = START_AT - 500): NodeClock {
    return new NodeClock(this, originAt)
  }

  delay(ms: number): Promise<void> {
    const clock = this.clock()
    return new Promise((resolve) => {
      clock.after(ms, resolve)
    })
  }

  addTimer(at: number, clock: NodeClock, callback: () => void): () => void {
    const timer: Timer = { clock, callback, isCancelled: false }
    this.#timers.push(at, timer)
    return () => {
      timer.isCancelled = true
    }
  }

  /** Rings all timers of the next instant that has one. The result is false when there is none until then. */
  async #ringNext(until: number): Promise<boolean> {
    for (let at = this.#timers.firstKey; at !== undefined && at <= until; at = this.#timers.firstKey) {
      const timer = this.#timers.pop()
      if (timer === undefined || timer.isCancelled) continue
      this.now = Math.max(this.now, at)
      timer.clock.ring(timer.callback)
      await this.flush()
      return true
    }
    return false
  }
}

/** This is a node's monotonic clock, with an origin of its own. While it is frozen no callback of it runs. */
export class NodeClock implements Clock {
  readonly #time: FakeTime
  readonly #originAt: number
  #frozen: (() => void)[] | undefined
  /** The number of timers that are set, and neither rung nor cancelled. */
  timers = 0

  constructor(time: FakeTime, originAt: number) {
    this.#time = time
    this.#originAt = originAt
  }

  now(): number {
    return this.#time.now - this.#originAt
  }

  after(delayMs: number, callback: () => void): () => void {
    this.timers++
    let isOver = false
    const end = () => {
      if (!isOver) this.timers--
      isOver = true
    }
    const cancel = this.#time.addTimer(this.#time.now + Math.max(0, delayMs), this, () => {
      if (isOver) return
      end()
      callback()
    })
    return () => {
      end()
      cancel()
    }
  }

  freeze(): void {
    this.#frozen ??= []
  }

  thaw(): void {
    const overdue = this.#frozen ?? []
    this.#frozen = undefined
    for (const callback of overdue) callback()
  }

  ring(callback: () => void): void {
    if (this.#frozen === undefined) callback()
    else this.#frozen.push(callback)
  }
}
