/** Finds what is due in the store: what a dead node left, what waited, what a lost hint would have told. */
import {
  type Clock,
  type DueClaimResult,
  type Grant,
  type Ids,
  type RunSettings,
  type Store,
  type StoredTransaction,
  StoreUnavailableError,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { placesOf } from './bulkhead/places-of.ts'
import { MinHeap } from './min-heap.ts'
import type { EngineObserver } from './observer.ts'
import type { Runner } from './runner.ts'
import { TakeOvers } from './take-overs.ts'

export interface RecoveryParts {
  readonly store: Store
  readonly runner: Runner
  readonly clock: Clock
  readonly ids: Ids
  readonly observer: EngineObserver
  readonly run: RunSettings
  readonly formatMax: number
  readonly pollMs: number
  readonly claimLimit: number
  readonly inFlightMax: number
  readonly hintsMax: number
  /** What still runs here must not be claimed from ourselves. */
  readonly renewExpired: () => Promise<void>
}

interface Claimed {
  readonly mayBeMore: boolean
  readonly rows: readonly StoredTransaction[]
  readonly grant: Grant
}

/** Rows that commands have made due, which are claimed and run beside the room of recovery. */
const COMMANDED_AT_ONCE_MAX = 256
/** Rows may be large, so few are claimed until it is known how large they are; */
const FIRST_CLAIM_MAX = 16
/** and one claim is to bring no more than so many places of them. */
const CLAIMED_PLACES_MAX = 512

export class Recovery {
  readonly #parts: RecoveryParts
  /** Instants of this node's clock at which something becomes due. Only hints: the due index is the truth. */
  readonly #hints = new MinHeap<undefined>()
  /** Claimed here and still run here. Fresh ones do not count: however many there are, what is due goes on. */
  readonly #recovered = new Map<Gid, number>()
  /** The places that they hold. */
  #recoveredPlaces = 0
  readonly #givingBack = new Set<Gid>()
  /** Claimed by their gid after a command, from the claim to the end of the run here. */
  readonly #commanded = new Set<Gid>()
  #cancelTimer: () => void = () => undefined
  #timerAt = Number.POSITIVE_INFINITY
  readonly #takeOvers: TakeOvers
  #claimLimit: number
  #polling: Promise<void> | undefined
  #moreIsDue = false
  #stopped = false

  constructor(parts: RecoveryParts) {
    this.#parts = parts
    this.#takeOvers = new TakeOvers(parts, () => this.#stopped)
    this.#claimLimit = Math.min(parts.claimLimit, FIRST_CLAIM_MAX)
  }

  start(): Promise<void> {
    this.#pollNow()
    return this.#polling ?? Promise.resolve()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelTimer()
    await this.#polling
  }

  /** Runs of what was claimed here. */
  get inFlight(): number {
    return this.#recovered.size
  }

  hint(dueAt: number): void {
    if (this.#stopped || this.#hints.size >= this.#parts.hintsMax) return
    this.#hints.push(dueAt, undefined)
    this.#setTimer(dueAt)
  }

  /**
   * A command of this node has made a row due, such as the confirm or the cancel of a TCC. With others it is claimed among
   * what is due; behind a backlog, which is claimed oldest first, it is claimed by its gid, so that it does not wait for the
   * rows of a target that is slow.
   */
  takeCommanded(gid: Gid): void {
    const { clock } = this.#parts
    if (this.#moreIsDue && this.#commanded.size < COMMANDED_AT_ONCE_MAX && !this.#stopped) {
      this.#commanded.add(gid)
      void this.#claimCommanded(gid)
    } else this.hint(clock.now())
  }

  /** If the process dies behind the claim, its lease runs out and the row is due again, as after every claim. */
  async #claimCommanded(gid: Gid): Promise<void> {
    const { store, clock, ids, observer, run, formatMax } = this.#parts
    try {
      await this.#parts.renewExpired()
      const sentAt = clock.now()
      const result = await store.claim({ gid, token: ids.token(), leaseMs: run.leaseMs, formatMax })
      // Refused: the row is run already, or has ended.
      if (result.type === 'claimed' && !this.#stopped) {
        observer.claimed(1)
        const grant = { sentAt, now: clock.now(), storeNow: result.now }
        const taken = this.#takeOvers.take(result.transaction, grant)
        if (taken.type === 'runs') return
        if (taken.type === 'giving-back') this.#givingBackUntil(taken.done, gid)
      }
    } catch (error: unknown) {
      const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
      observer.event({ level, name: 'claim-failed', gid, error })
      this.hint(clock.now())
    }
    this.#commanded.delete(gid)
  }

  /** A run has ended: there may be room for what is due. */
  roomFreed(gid: Gid): void {
    this.#commanded.delete(gid)
    this.#recoveredPlaces -= this.#recovered.get(gid) ?? 0
    this.#recovered.delete(gid)
    this.#pollIfRoom()
  }

  #pollIfRoom(): void {
    const { claimLimit, inFlightMax } = this.#parts
    if (this.#moreIsDue && this.#room() >= Math.min(claimLimit, inFlightMax)) this.#pollNow()
  }

  #room(): number {
    return this.#parts.inFlightMax - this.#recoveredPlaces - this.#givingBack.size
  }

  #setTimer(at: number): void {
    if (at >= this.#timerAt || this.#stopped) return
    const { clock } = this.#parts
    this.#cancelTimer()
    this.#timerAt = at
    // One millisecond later, so that a due instant by the store's clock has passed when it is asked.
    this.#cancelTimer = clock.after(at - clock.now() + 1, () => this.#pollNow())
  }

  #pollNow(): void {
    if (this.#stopped) return
    this.#cancelTimer()
    this.#timerAt = Number.POSITIVE_INFINITY
    // The end of the poll that is under way sets the timer again, also for what has come due meanwhile.
    if (this.#polling !== undefined) return
    const { clock, pollMs } = this.#parts
    const startedAt = clock.now()
    this.#polling = this.#poll().finally(() => {
      this.#polling = undefined
      while (this.#hints.size > 0 && (this.#hints.firstKey ?? 0) <= startedAt - 1) this.#hints.pop()
      this.#setTimer(Math.min(clock.now() + pollMs, this.#hints.firstKey ?? Number.POSITIVE_INFINITY))
      this.#pollIfRoom()
    })
  }

  async #poll(): Promise<void> {
    const { observer } = this.#parts
    // Without room it is not looked at all, so there may be more.
    this.#moreIsDue = this.#room() <= 0
    try {
      await this.#parts.renewExpired()
      let asked = this.#ask(0)
      while (asked !== undefined) {
        const { mayBeMore, rows, grant } = await asked
        this.#moreIsDue = mayBeMore
        // Under way while these start: what a claim takes is mostly waiting.
        asked = mayBeMore ? this.#ask(placesOfAll(rows)) : undefined
        this.#start(rows, grant)
      }
    } catch (error: unknown) {
      const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
      observer.event({ level, name: 'claim-failed', error })
    }
  }

  /** A claim, if there is room for one beside the rows that are about to start. */
  #ask(aboutToStart: number): Promise<Claimed> | undefined {
    const limit = Math.min(this.#claimLimit, this.#room() - aboutToStart)
    return limit > 0 && !this.#stopped ? this.#claim(limit) : undefined
  }

  async #claim(limit: number): Promise<Claimed> {
    const { store, clock, ids, observer, run, formatMax } = this.#parts
    const sentAt = clock.now()
    const tokens = Array.from({ length: limit }, () => ids.token())
    const result = await this.#limiting(store.claimDue({ limit, leaseMs: run.leaseMs, tokens, formatMax }))
    const { now: storeNow, claimed: rows } = result
    if (rows.length > 0) observer.claimed(rows.length)
    const places = placesOfAll(rows)
    if (places > CLAIMED_PLACES_MAX)
      this.#claimLimit = Math.max(1, Math.floor((rows.length * CLAIMED_PLACES_MAX) / places))
    const mayBeMore = rows.length === limit || result.mayBeMore === true
    return { mayBeMore, rows, grant: { sentAt, now: clock.now(), storeNow } }
  }

  /** An answer that came too late may have been too much for one answer: less is asked for, until one comes. */
  async #limiting(claiming: Promise<DueClaimResult>): Promise<DueClaimResult> {
    const { claimLimit } = this.#parts
    try {
      const result = await claiming
      this.#claimLimit = Math.min(claimLimit, this.#claimLimit * 2)
      return result
    } catch (error: unknown) {
      this.#claimLimit = Math.max(1, Math.floor(this.#claimLimit / 2))
      throw error
    }
  }

  #start(rows: readonly StoredTransaction[], grant: Grant): void {
    for (const row of rows) {
      const taken = this.#takeOvers.take(row, grant)
      if (taken.type === 'runs') this.#count(row)
      if (taken.type === 'giving-back') this.#givingBackUntil(taken.done, row.gid)
    }
  }

  #count(row: StoredTransaction): void {
    const places = placesOf(row)
    this.#recoveredPlaces += places - (this.#recovered.get(row.gid) ?? 0)
    this.#recovered.set(row.gid, places)
  }

  /** Beside everything else, but it takes its place: a store that takes no writes must not make them pile up. */
  #givingBackUntil(done: Promise<void>, gid: Gid): void {
    this.#givingBack.add(gid)
    void done.then(() => {
      this.#givingBack.delete(gid)
      this.#pollIfRoom()
    })
  }
}

function placesOfAll(rows: readonly StoredTransaction[]): number {
  return rows.reduce((sum, row) => sum + placesOf(row), 0)
}
