import type { Clock } from '@counterstep/core'
import { CounterstepError } from '@counterstep/protocol'

export interface ReadLimiterBounds {
  /** The number of reads under way at once. */
  readonly atOnceMax: number
  /** The number of reads that wait for their turn. Beyond it a read is refused at once. */
  readonly waitingMax: number
  /** A read that has waited this long is refused. */
  readonly waitMs: number
  /** After a read its place rests for this many times the duration of the read. */
  readonly restFactor: number
  /** A place never rests for longer than this, however long the read took. */
  readonly restMsMax: number
  /** Creates the error of a refused read. The default is SAGA_TOO_MANY_READS. */
  readonly refuse?: () => CounterstepError
}

/** Reads whose waits end within this time are refused together, so that one timer serves many. */
const TOGETHER_MS = 10

/**
 * A place rests for at most this time, which is shorter than a reader waits for its turn. A longer rest is shared by
 * several places.
 */
const PLACE_REST_MS_MAX = 1_000

interface Waiting {
  readonly caller: string
  readonly asked: string
  readonly until: number
  readonly start: () => void
  readonly refuse: (error: CounterstepError) => void
}

/**
 * Bounds the cost of readers. Few reads are under way at once, and each place rests after a read, so that writers
 * find the store and the processor free. Waiting reads get their turns caller by caller, so that a caller with many
 * reads takes nothing from another's share. A refused read is answered late on purpose: a caller that asks again at
 * once then costs one request in two seconds instead of thousands.
 */
export class ReadLimiter {
  readonly #clock: Clock
  readonly #bounds: ReadLimiterBounds
  /** The waiting reads, oldest first. */
  readonly #waiting = new Set<Waiting>()
  /** The waiting reads by caller, and those of one caller by what it asks for. Whose turn comes next is the first. */
  readonly #callers = new Map<string, Map<string, Set<Waiting>>>()
  /** The instants at which resting places may be used again. */
  #restingUntil: number[] = []
  #running = 0
  #timerAt = Number.POSITIVE_INFINITY
  #cancelTimer: () => void = () => undefined

  constructor(clock: Clock, bounds: ReadLimiterBounds) {
    this.#clock = clock
    this.#bounds = bounds
  }

  /**
   * Runs a read in its turn. It may throw SAGA_TOO_MANY_READS without calling `read`. Reads without a caller share one
   * turn. `lane` is made by `toLane`, or is a caller's name. `toRestMs` returns the time for which places stay empty because
   * of the work that follows the read, as a sum over all places.
   */
  async run<T>(read: () => Promise<T>, lane = '', toRestMs: (value: T) => number = restNone): Promise<T> {
    if (this.#waiting.size > 0 || !this.#hasPlace()) await this.#wait(lane)
    else this.#running++
    const startedAt = this.#clock.now()
    let restMs = 0
    try {
      const value = await read()
      restMs = toRestMs(value)
      return value
    } finally {
      this.#leave(this.#clock.now() - startedAt, restMs)
    }
  }

  /** Runs a read if it need not wait. Otherwise returns undefined, and `read` is not called. */
  runAtOnce<T>(read: () => Promise<T>): Promise<T> | undefined {
    return this.#waiting.size > 0 || !this.#hasPlace() ? undefined : this.run(read)
  }

  #hasPlace(): boolean {
    const now = this.#clock.now()
    if (this.#restingUntil.length > 0) this.#restingUntil = this.#restingUntil.filter((until) => until > now)
    return this.#running + this.#restingUntil.length < this.#bounds.atOnceMax
  }

  #wait(lane: string): Promise<void> {
    const { waitingMax, waitMs } = this.#bounds
    const [caller, asked] = splitLane(lane)
    if (this.#waiting.size >= waitingMax && !this.#refuseForOther(caller, asked))
      return Promise.reject(this.#createRefusal())
    return new Promise((start, refuse) => {
      const waiting = { caller, asked, until: this.#clock.now() + waitMs, start, refuse }
      this.#waiting.add(waiting)
      const lanes = this.#callers.get(caller) ?? new Map<string, Set<Waiting>>()
      this.#callers.set(caller, lanes.set(asked, (lanes.get(asked) ?? new Set<Waiting>()).add(waiting)))
      this.#setTimer()
    })
  }

  /**
   * Refuses the newest read of the caller with the most waiting reads, or of what the same caller asks for most. Returns false if
   * none has more than this one would have.
   */
  #refuseForOther(caller: string, asked: string): boolean {
    const own = this.#callers.get(caller) ?? new Map<string, Set<Waiting>>()
    const busiest = findMost(this.#callers.values(), countAll, countAll(own) + 1)
    const fullest =
      busiest === undefined
        ? findMost(own.values(), countOne, (own.get(asked)?.size ?? 0) + 1)
        : findMost(busiest.values(), countOne, 0)
    const newest = fullest === undefined ? undefined : [...fullest].at(-1)
    if (newest === undefined) return false
    this.#remove(newest)
    newest.refuse(this.#createRefusal())
    return true
  }

  #remove(waiting: Waiting): void {
    this.#waiting.delete(waiting)
    const { caller, asked } = waiting
    const lanes = this.#callers.get(caller)
    const others = lanes?.get(asked)
    others?.delete(waiting)
    if (others?.size === 0) lanes?.delete(asked)
    if (lanes?.size === 0) this.#callers.delete(caller)
  }

  #leave(tookMs: number, restMsAsked: number): void {
    this.#running--
    const { restFactor, restMsMax } = this.#bounds
    const now = this.#clock.now()
    let leftMs = Math.max(restMsAsked, Math.min(tookMs * restFactor, restMsMax))
    for (; leftMs > 0; leftMs -= PLACE_REST_MS_MAX)
      this.#restingUntil.push(now + Math.min(leftMs, PLACE_REST_MS_MAX))
    this.#admit()
  }

  /** Refuses the reads whose time is over, and admits the oldest read of each caller in turn. */
  #admit(): void {
    const now = this.#clock.now()
    for (const waiting of this.#waiting) {
      if (waiting.until > now) break
      this.#remove(waiting)
      waiting.refuse(this.#createRefusal())
    }
    while (this.#waiting.size > 0 && this.#hasPlace()) this.#admitNext()
    this.#setTimer()
  }

  #admitNext(): void {
    const [lanes] = this.#callers.values()
    const [waitingThere] = lanes?.values() ?? []
    const [next] = waitingThere ?? []
    if (lanes === undefined || waitingThere === undefined || next === undefined) return
    const { caller, asked } = next
    this.#remove(next)
    // The caller moves behind all others, and what it has asked for behind what else it asks for.
    if (lanes.delete(asked)) lanes.set(asked, waitingThere)
    if (this.#callers.delete(caller)) this.#callers.set(caller, lanes)
    // The place is taken here, since the read starts only in a later microtask.
    this.#running++
    next.start()
  }

  #createRefusal(): CounterstepError {
    return this.#bounds.refuse?.() ?? toTooManyReadsError()
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

const LANE_SEPARATOR = '|'

/**
 * Names what a caller asks for. All that one caller asks for shares its turns, so that no caller gets more of them by asking for many
 * things, and takes turns among itself.
 */
export function toLane(caller: string, asked: string): string {
  return `${caller}${LANE_SEPARATOR}${asked}`
}

/** Returns the caller of a lane, or the caller itself. */
export function readLaneCaller(lane: string): string {
  return splitLane(lane)[0]
}

function splitLane(lane: string): readonly [string, string] {
  const at = lane.indexOf(LANE_SEPARATOR)
  return at === -1 ? [lane, ''] : [lane.slice(0, at), lane.slice(at + 1)]
}

/** Finds the one with the most, if that is more than `beyond`. */
function findMost<Of>(all: Iterable<Of>, count: (of: Of) => number, beyond: number): Of | undefined {
  let most: Of | undefined
  let mostCount = beyond
  for (const each of all) {
    if (count(each) <= mostCount) continue
    most = each
    mostCount = count(each)
  }
  return most
}

function countOne({ size }: ReadonlySet<unknown>): number {
  return size
}

function countAll(lanes: ReadonlyMap<string, ReadonlySet<unknown>>): number {
  let sum = 0
  for (const { size } of lanes.values()) sum += size
  return sum
}

function restNone(): number {
  return 0
}

function toTooManyReadsError(): CounterstepError {
  return new CounterstepError('SAGA_TOO_MANY_READS', 'too many lists and reads at once: ask again later')
}
