import type { OriginLoad } from '@counterstep/core'
import type { DeadlineWheel } from './deadline-wheel.ts'
import { Origin, type OriginOptions } from './origin.ts'

export interface OriginsOptions extends OriginOptions {
  readonly originsMax: number
  readonly originIdleMs: number
}

/**
 * Holds a bounded number of origins. Room is made only when a new origin comes, so a call to a known one costs
 * nothing.
 */
export class Origins {
  readonly #origins = new Map<string, Origin>()
  readonly #closing = new Set<Promise<void>>()
  readonly #wheel: DeadlineWheel
  readonly #options: OriginsOptions

  constructor(wheel: DeadlineWheel, options: OriginsOptions) {
    this.#wheel = wheel
    this.#options = options
  }

  get size(): number {
    return this.#origins.size
  }

  /** Returns undefined while origins with calls in flight take all the room. */
  get(key: string, now: number): Origin | undefined {
    return this.#origins.get(key) ?? this.#add(key, now)
  }

  loads(): readonly OriginLoad[] {
    return Array.from(this.#origins.values(), ({ load }) => load)
  }

  async close(): Promise<void> {
    for (const [key, origin] of this.#origins) this.#remove(key, origin)
    await Promise.all(this.#closing)
  }

  #add(key: string, now: number): Origin | undefined {
    this.#makeRoom(now)
    if (this.#origins.size >= this.#options.originsMax) return undefined
    const origin = new Origin(key, this.#wheel, this.#options)
    this.#origins.set(key, origin)
    return origin
  }

  /**
   * Closes the origins that have been idle for long. If that is not enough, it closes the one that has been idle
   * longest.
   */
  #makeRoom(now: number): void {
    let oldest: [string, Origin] | undefined
    for (const entry of this.#origins) {
      const [key, origin] = entry
      if (!origin.isIdle) continue
      if (now - origin.usedAt > this.#options.originIdleMs) this.#remove(key, origin)
      else if (oldest === undefined || origin.usedAt < oldest[1].usedAt) oldest = entry
    }
    if (oldest !== undefined && this.#origins.size >= this.#options.originsMax) this.#remove(...oldest)
  }

  #remove(key: string, origin: Origin): void {
    this.#origins.delete(key)
    const closing = origin.close().finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }
}
