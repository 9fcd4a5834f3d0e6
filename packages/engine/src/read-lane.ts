import type { Clock } from '@counterstep/core'
import { CounterstepError } from '@counterstep/protocol'

export interface ReadLaneBounds {
  /** At most so many reads are under way at once. */
  readonly atOnceMax: number
  /** At most so many reads wait for their turn; one more is refused at once. */
  readonly waitingMax: number
  /** A read that has waited so long is refused. */
  readonly waitMs: number
  /** After a read its place stays empty for so many times as long as the read took. */
  readonly restFactor: number
  /** A read that took long, for whatever reason, does not keep the next ones away for longer than this. */
  readonly restMsMax: number
}

/** Reads whose wait is over so soon after another's are refused together, so that one timer serves many. */
const TOGETHER_MS = 10

interface Waiting {
  readonly until: number
  readonly start: () => void
  readonly refuse: (error: CounterstepError) => void
}

/**
 * Bounds what readers cost. Few reads are under way at once, and each leaves its place empty for a while, so that writers find
 * the store and the processor free. A refused read is answered late on purpose: a caller that asks again at once
 * then costs one request in two seconds instead of thousands.
 */
export class ReadLane {
  readonly #clock: Clock
  readonly #bounds: ReadLaneBounds
  readonly #waiting = new Set<Waiting>()
  /** The instants at which places that rest may be taken again. */
  #restingUntil: number[] = []
  #running = 0
  #timerAt = Number.POSITIVE_INFINITY
  #cancelTimer: () => void = () => undefined

  constructor(clock: Clock, bounds: ReadLaneBounds) {
    this.#clock = clock
    this.#bounds = bounds
  }

  /** Throws SAGA_TOO_MANY_READS; then `read` was not called. */
  async run<T>(read: () => Promise<T>): Promise<T> {
    if (this.#waiting.size > 0 || !this.#hasPlace()) await this.#wait()
    else this.#running++
    const startedAt = this.#clock.now()
    try {
      return await read()
    } finally {
      this.#leave(this.#clock.now() - startedAt)
    }
  }

  /** Undefined: it would have to wait, and `read` was not called. */
  runAtOnce<T>(read: () => Promise<T>): Promise<T> | undefined {
    return this.#waiting.size > 0 || !this.#hasPlace() ? undefined : this.run(read)
  }

  #hasPlace(): boolean {
    const now = this.#clock.now()
    if (this.#restingUntil.length > 0) this.#restingUntil = this.#restingUntil.filter((until) => until > now)
    return this.#running + this.#restingUntil.length < this.#bounds.atOnceMax
  }

  #wait(): Promise<void> {
    const { waitingMax, waitMs } = this.#bounds
    if (this.#waiting.size >= waitingMax) return Promise.reject(tooManyReads())
    return new Promise((start, refuse) => {
      this.#waiting.add({ until: this.#clock.now() + waitMs, start, refuse })
      this.#setTimer()
    })
  }

  #leave(tookMs: number): void {
    this.#running--
    const { restFactor, restMsMax } = this.#bounds
    const restMs = Math.min(tookMs * restFactor, restMsMax)
    if (restMs > 0) this.#restingUntil.push(this.#clock.now() + restMs)
    this.#admit()
  }

  /** Admits the oldest first, and refuses those whose time is over. */
  #admit(): void {
    const now = this.#clock.now()
    for (const waiting of this.#waiting) {
      if (waiting.until <= now) {
        this.#waiting.delete(waiting)
        waiting.refuse(tooManyReads())
      } else if (this.#hasPlace()) {
        this.#waiting.delete(waiting)
        // Its place is taken here, since it starts only in a later microtask.
        this.#running++
        waiting.start()
      } else break
    }
    this.#setTimer()
  }

  #setTimer(): void {
    const [oldest] = this.#waiting
    if (oldest === undefined) return
    const at = Math.min(oldest.until + TOGETHER_MS, ...this.#restingUntil)
    if (at >= this.#timerAt) return
    this.#cancelTimer()
    this.#timerAt = at
    this.#cancelTimer = this.#clock.after(at - this.#clock.now(), () => {
      this.#timerAt = Number.POSITIVE_INFINITY
      this.#admit()
    })
  }
}

function tooManyReads(): CounterstepError {
  return new CounterstepError('SAGA_TOO_MANY_READS', 'too many lists and reads at once: ask again later')
}
