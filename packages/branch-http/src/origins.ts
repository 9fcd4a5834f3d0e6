import type { OriginLoad } from '@counterstep/core'
import type { DeadlineWheel } from './deadline-wheel.ts'
import { Origin, type OriginAttempt, type OriginOptions } from './origin.ts'

export interface OriginsOptions<A extends OriginAttempt<A>> extends OriginOptions<A> {
  readonly originsMax: number
  readonly originIdleMs: number
}

/** In the time after which an idle origin is closed, all of them are looked at so often. */
const LOOKS_PER_IDLE_TIME = 8
/** When there is no room, this part of it is made at once. */
const CLOSED_AT_ONCE = 1 / 16

/**
 * Holds a bounded number of origins. Room is made only when a new origin comes, so a call to a known one costs
 * nothing.
 */
export class Origins<A extends OriginAttempt<A>> {
  readonly #origins = new Map<string, Origin<A>>()
  readonly #closing = new Set<Promise<void>>()
  #nextLookAt = 0
  readonly #wheel: DeadlineWheel
  readonly #options: OriginsOptions<A>

  constructor(wheel: DeadlineWheel, options: OriginsOptions<A>) {
    this.#wheel = wheel
    this.#options = options
  }

  get size(): number {
    return this.#origins.size
  }

  /** Returns undefined while origins with calls in flight take all the room. */
  get(key: string, now: number): Origin<A> | undefined {
    return this.#origins.get(key) ?? this.#add(key, now)
  }

  loads(): readonly OriginLoad[] {
    return Array.from(this.#origins.values(), ({ load }) => load)
  }

  async close(): Promise<void> {
    for (const [key, origin] of this.#origins) this.#remove(key, origin)
    await Promise.all(this.#closing)
  }

  #add(key: string, now: number): Origin<A> | undefined {
    const isFull = this.#origins.size >= this.#options.originsMax
    if (isFull || now >= this.#nextLookAt) this.#makeRoom(now, isFull)
    if (this.#origins.size >= this.#options.originsMax) return undefined
    const origin = new Origin(key, this.#wheel, this.#options)
    this.#origins.set(key, origin)
    return origin
  }

  /**
   * Closes the origins that have been idle for long. If all the room is taken, it closes a part of those that have been
   * idle longest as well, since it looks at all of them, and the next new ones should find room without that.
   */
  #makeRoom(now: number, isFull: boolean): void {
    const { originIdleMs, originsMax } = this.#options
    this.#nextLookAt = now + originIdleMs / LOOKS_PER_IDLE_TIME
    const idle = [...this.#origins]
      .filter(([, origin]) => origin.isIdle)
      .sort(([, one], [, other]) => one.usedAt - other.usedAt)
    const firstYoung = idle.findIndex(([, { usedAt }]) => now - usedAt <= originIdleMs)
    const old = firstYoung === -1 ? idle.length : firstYoung
    const wanted = isFull ? Math.max(1, Math.floor(originsMax * CLOSED_AT_ONCE)) : 0
    for (const [key, origin] of idle.slice(0, Math.max(old, wanted))) this.#remove(key, origin)
  }

  #remove(key: string, origin: Origin<A>): void {
    this.#origins.delete(key)
    const closing = origin.close().finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }
}
