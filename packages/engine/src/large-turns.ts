import type { Clock } from '@counterstep/core'
import { CounterstepError, type Gid } from '@counterstep/protocol'
import { ReadLimiter } from './read-limiter.ts'

/** So many large rows are worked on at once. */
const AT_ONCE_MAX = 4
/** So many requests wait for their turn. Each may hold a payload of 256 KiB. */
const WAITING_MAX = 256
const WAIT_MS = 2_000
/**
 * A place rests for so long for each further 32 KiB of the row. So commands read, parse and write some 13 MB of large rows
 * a second, which keeps the thread busy for a tenth of the time.
 */
const REST_MS_PER_PLACE = 10
/** So many large transactions are remembered, so that a further request that names one reads nothing before its turn. */
const KNOWN_MAX = 10_000

/** Says that a row needs a turn, since it takes so many places. */
export class LargeRow {
  readonly places: number

  constructor(places: number) {
    this.places = places
  }
}

/**
 * A request of few bytes may name a transaction of 1 MiB, which is then read, parsed and written anew. So such requests
 * take turns, caller by caller. Those that name a small transaction wait for nothing.
 */
export class LargeTurns {
  readonly #limiter: ReadLimiter
  /** The places that the rows of large transactions took when they were seen last. */
  readonly #known = new Map<Gid, number>()

  constructor(clock: Clock) {
    const bounds = { atOnceMax: AT_ONCE_MAX, waitingMax: WAITING_MAX, waitMs: WAIT_MS }
    this.#limiter = new ReadLimiter(clock, { ...bounds, restFactor: 0, restMsMax: 0, refuse: createRefusal })
  }

  /**
   * Does the work at once, unless the transaction is known to be large. If it finds a large row before it has its turn, it
   * returns that, and is done again in the caller's turn. Without a caller no turn is needed. Throws SAGA_OVER_CAPACITY, and
   * nothing was done.
   */
  async run<T>(
    gid: Gid,
    caller: string | undefined,
    work: (hasTurn: boolean) => Promise<T | LargeRow>,
  ): Promise<T> {
    let places = caller === undefined ? undefined : this.#known.get(gid)
    if (places === undefined) {
      const done = await work(caller === undefined)
      if (!(done instanceof LargeRow)) return done
      places = done.places
      if (this.#known.size >= KNOWN_MAX) this.#known.clear()
      this.#known.set(gid, places)
    }
    const restMs = (places - 1) * REST_MS_PER_PLACE
    return await this.#limiter.run(
      () => work(true) as Promise<T>,
      caller,
      () => restMs,
    )
  }
}

function createRefusal(): CounterstepError {
  return new CounterstepError(
    'SAGA_OVER_CAPACITY',
    'too many requests name large transactions: ask again later',
  )
}
