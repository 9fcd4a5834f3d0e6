import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock } from '@counterstep/core'

/** The event loop is looked at this often. The figure of Node includes this time, so it is taken off. */
const RESOLUTION_MS = 10
const WINDOW_MS = 60_000
const NS_PER_MS = 1e6

/** Watches how late the event loop is. */
export class LoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  readonly #clock: Clock
  #lastP99Ms: number | undefined
  #cancel: () => void = () => undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  start(): void {
    this.#histogram.enable()
    this.#openWindow()
  }

  stop(): void {
    this.#histogram.disable()
    this.#cancel()
  }

  /** The 99th percentile over the last whole minute, or over the first one so far. */
  get p99Ms(): number {
    return this.#lastP99Ms ?? this.#measure()
  }

  #openWindow(): void {
    this.#cancel = this.#clock.after(WINDOW_MS, () => {
      this.#lastP99Ms = this.#measure()
      this.#histogram.reset()
      this.#openWindow()
    })
  }

  #measure(): number {
    if (this.#histogram.count === 0) return 0
    const lateMs = this.#histogram.percentile(99) / NS_PER_MS - RESOLUTION_MS
    return Math.round(Math.max(0, lateMs) * 10) / 10
  }
}
