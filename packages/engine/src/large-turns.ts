import type { Clock, Store, StoredTransaction } from '@counterstep/core'
import { CounterstepError, type Gid } from '@counterstep/protocol'
import { countRowPlaces } from './bulkhead/count-row-places.ts'
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
/** So many rows of unknown sizes are read at once. Each may be as large as a row may be, and is held until its size is seen. */
const FIRST_READS_AT_ONCE_MAX = 128
const FIRST_READS_WAITING_MAX = 4_096

/** The row is large, and the request needs a turn before it may work on it. */
export type NeedsTurn = 'needs-turn'

/** A request asks it before it works on the row that it names. */
export interface RowTurn {
  /** Reads the row, or finds that it is large and needs a turn first. Undefined: there is no such transaction. */
  read(): Promise<StoredTransaction | NeedsTurn | undefined>
  /** Notes the size of a row that runs here. Returns a value if it is large and needs a turn first. */
  note(places: number): NeedsTurn | undefined
}

/**
 * A request of few bytes may name a transaction of 1 MiB, which is then read, parsed and written anew. So such requests
 * take turns, caller by caller. Those that name a small transaction wait for nothing, as long as few rows are read at once.
 */
export class LargeTurns {
  readonly #store: Pick<Store, 'readMany'>
  readonly #limiter: ReadLimiter
  /** The size of a row is known only when it was read. So few of these reads are under way at once. */
  readonly #firstReads: ReadLimiter
  /** The places that the rows of large transactions took when they were seen last. */
  readonly #known = new Map<Gid, number>()

  constructor(clock: Clock, store: Pick<Store, 'readMany'>) {
    this.#store = store
    const common = { waitMs: WAIT_MS, restFactor: 0, restMsMax: 0, refuse: createRefusal }
    this.#limiter = new ReadLimiter(clock, { ...common, atOnceMax: AT_ONCE_MAX, waitingMax: WAITING_MAX })
    const firstReads = { atOnceMax: FIRST_READS_AT_ONCE_MAX, waitingMax: FIRST_READS_WAITING_MAX }
    this.#firstReads = new ReadLimiter(clock, { ...common, ...firstReads })
  }

  /**
   * Does the work at once, unless the transaction is known to be large. If it finds a large row before it has its turn, it
   * returns that, and is done again in the caller's turn. Without a caller no turn is needed. Throws SAGA_OVER_CAPACITY, and
   * nothing was done.
   */
  async run<T>(
    gid: Gid,
    caller: string | undefined,
    work: (turn: RowTurn) => Promise<T | NeedsTurn>,
  ): Promise<T> {
    // A work that has its turn finds no row that needs one.
    const workInTurn = () => work(this.#inTurn(gid)) as Promise<T>
    if (caller === undefined) return await workInTurn()
    if (!this.#known.has(gid)) {
      const done = await work(this.#beforeTurn(gid, caller))
      if (done !== 'needs-turn') return done
    }
    // The row may have grown since it was seen last, so its size is looked up after the work. A work that is refused costs as much.
    const toRestMs = () => ((this.#known.get(gid) ?? 1) - 1) * REST_MS_PER_PLACE
    const done = await this.#limiter.run(() => Promise.allSettled([workInTurn()]), caller, toRestMs)
    if (done[0].status === 'rejected') throw done[0].reason
    return done[0].value
  }

  #inTurn(gid: Gid): RowTurn {
    return {
      read: () => this.#read(gid),
      note: (places) => {
        this.#note(gid, places)
        return undefined
      },
    }
  }

  #beforeTurn(gid: Gid, caller: string): RowTurn {
    const note = (places: number) => (this.#note(gid, places) ? 'needs-turn' : undefined)
    const read = async () => {
      // Another request may have read it while this one waited.
      if (this.#known.has(gid)) return 'needs-turn'
      const row = await this.#read(gid)
      return this.#known.has(gid) ? 'needs-turn' : row
    }
    return { note, read: () => this.#firstReads.run(read, caller) }
  }

  async #read(gid: Gid): Promise<StoredTransaction | undefined> {
    const [row] = await this.#store.readMany([gid])
    if (row !== undefined) this.#note(gid, countRowPlaces(row))
    return row
  }

  /** Remembers the size of a row, and returns whether it is large. */
  #note(gid: Gid, places: number): boolean {
    if (places <= 1) return false
    if (!this.#known.has(gid) && this.#known.size >= KNOWN_MAX) this.#known.clear()
    this.#known.set(gid, places)
    return true
  }
}

function createRefusal(): CounterstepError {
  return new CounterstepError(
    'SAGA_OVER_CAPACITY',
    'too many requests read stored transactions, or large ones: ask again later',
  )
}
