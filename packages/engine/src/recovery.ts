/** Claims rows that are due in the store: rows of a dead node, rows that waited, and rows whose hint was lost. */
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
import { TURN_MS_MAX } from './alarm-clock.ts'
import { countRowPlaces } from './bulkhead/count-row-places.ts'
import { MinHeap } from './min-heap.ts'
import type { EngineObserver } from './observer.ts'
import type { Runner } from './runner.ts'
import { TakeOvers } from './take-overs.ts'
import { delay } from './until-definite.ts'

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
  /** Renews expired leases first, so that this node does not claim rows that it still runs. */
  readonly renewExpired: () => Promise<void>
}

interface Claimed {
  readonly mayBeMore: boolean
  readonly rows: readonly StoredTransaction[]
  readonly grant: Grant
}

/** This many rows are claimed at once by their gid, beyond the limit of recovery. */
const CLAIMS_BY_GID_MAX = 256
/** Few rows are claimed until it is known how large rows are. */
const FIRST_CLAIM_MAX = 16
/**
 * A hint is taken for an instant that is no further ahead. The regular polls find a row that is due later. A parked row is
 * due in the far future, and a hint of it would be kept for ever.
 */
const HINT_AHEAD_MS_MAX = 48 * 3_600_000
/** One claim should bring rows of no more than this many places. */
const CLAIMED_PLACES_MAX = 512

export class Recovery {
  readonly #parts: RecoveryParts
  /**
   * Instants of this node's clock at which rows become due. They are only hints, because the due index is the truth.
   */
  readonly #hints = new MinHeap<undefined>()
  /**
   * The places of each transaction that was claimed and still runs here. Accepted ones do not count, so that due rows
   * go on however many there are.
   */
  readonly #recovered = new Map<Gid, number>()
  /** This is the sum of these places. */
  #recoveredPlaces = 0
  readonly #givingBack = new Set<Gid>()
  /**
   * The rows that are being claimed by their gid. Those that run do not count, because the shares of
   * their targets bound them. So the rows of a target that hangs take no places from others.
   */
  readonly #claimsByGid = new Set<Promise<void>>()
  #cancelTimer: () => void = () => undefined
  #timerAt = Number.POSITIVE_INFINITY
  readonly #takeOvers: TakeOvers
  #claimLimit: number
  #polling: Promise<void> | undefined
  #onFirstClaim: () => void = () => undefined
  #moreIsDue = false
  #stopped = false

  constructor(parts: RecoveryParts) {
    this.#parts = parts
    this.#takeOvers = new TakeOvers(parts, () => this.#stopped)
    this.#claimLimit = Math.min(parts.claimLimit, FIRST_CLAIM_MAX)
  }

  /**
   * Resolves when rows have been claimed once, or could not be. The rest of what is due is claimed afterwards, so that
   * a host begins to listen however much it is.
   */
  start(): Promise<void> {
    if (this.#stopped) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onFirstClaim = resolve
      this.#pollNow()
    })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelTimer()
    await Promise.all([this.#polling, ...this.#claimsByGid])
  }

  /** The number of claimed transactions that run here. */
  get inFlight(): number {
    return this.#recovered.size
  }

  /**
   * Sees to a poll at this instant. Where too many hints are kept already, the timer is set for this one all the same. It
   * is forgotten if another poll comes first, and the regular polls find its row.
   */
  hint(dueAt: number): void {
    if (this.#stopped || dueAt >= this.#parts.clock.now() + HINT_AHEAD_MS_MAX) return
    if (this.#hints.size < this.#parts.hintsMax) this.#hints.push(dueAt, undefined)
    this.#setTimer(dueAt)
  }

  /**
   * Claims a row that a command of this node has made due, such as the confirm or the cancel of a TCC. Usually the
   * next poll claims it with others. Behind a backlog, which is claimed oldest first, it is claimed by its gid, so
   * that it does not wait for the rows of a slow target.
   */
  takeCommanded(gid: Gid): void {
    if (!this.#claimBehindBacklog(gid)) this.hint(this.#parts.clock.now())
  }

  /** Claims a row that is due, if there is a backlog. Else its hint leads to a poll. */
  takeDue(gid: Gid): void {
    this.#claimBehindBacklog(gid)
  }

  /** Begins to claim a row by its gid. Returns false if there is no backlog, or if too many are being claimed so. */
  #claimBehindBacklog(gid: Gid): boolean {
    if (!this.#moreIsDue || this.#claimsByGid.size >= CLAIMS_BY_GID_MAX || this.#stopped) return false
    const claim = this.#claimByGid(gid).finally(() => this.#claimsByGid.delete(claim))
    this.#claimsByGid.add(claim)
    return true
  }

  /**
   * Claims one row. If the process dies after the claim, the lease runs out
   * and the row is due again, as after every claim.
   */
  async #claimByGid(gid: Gid): Promise<void> {
    const { store, clock, ids, observer, run, formatMax } = this.#parts
    try {
      await this.#parts.renewExpired()
      const sentAt = clock.now()
      const result = await store.claim({ gid, token: ids.token(), leaseMs: run.leaseMs, formatMax })
      // A refused claim means that the row runs already or has ended. A row that is claimed during a stop is given back.
      if (result.type === 'claimed') {
        observer.claimed(1)
        const grant = { sentAt, now: clock.now(), storeNow: result.now }
        const taken = this.#takeOvers.take(result.transaction, grant, true)
        if (taken.type === 'giving-back') this.#trackGivingBack(taken.done, gid)
      }
    } catch (error: unknown) {
      const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
      observer.event({ level, name: 'claim-failed', gid, error })
      this.hint(clock.now())
    }
  }

  /** Frees the places of a run that has ended, so that there may be room for due rows. */
  freeRoom(gid: Gid): void {
    this.#recoveredPlaces -= this.#recovered.get(gid) ?? 0
    this.#recovered.delete(gid)
    this.#pollIfRoom()
  }

  #pollIfRoom(): void {
    const { claimLimit, inFlightMax } = this.#parts
    if (this.#moreIsDue && this.#countFreePlaces() >= Math.min(claimLimit, inFlightMax)) this.#pollNow()
  }

  #countFreePlaces(): number {
    return this.#parts.inFlightMax - this.#recoveredPlaces - this.#givingBack.size
  }

  #setTimer(at: number): void {
    if (at >= this.#timerAt || this.#stopped) return
    const { clock } = this.#parts
    this.#cancelTimer()
    this.#timerAt = at
    // The timer is one millisecond late, so that the due instant has passed by the store's clock when the claim is
    // made.
    this.#cancelTimer = clock.after(at - clock.now() + 1, () => this.#pollNow())
  }

  #pollNow(): void {
    if (this.#stopped) return
    this.#cancelTimer()
    this.#timerAt = Number.POSITIVE_INFINITY
    // The end of the poll that is under way sets the timer again, also for rows that have become due meanwhile.
    if (this.#polling !== undefined) return
    const { clock, pollMs } = this.#parts
    const startedAt = clock.now()
    this.#polling = this.#poll().finally(() => {
      this.#polling = undefined
      this.#onFirstClaim()
      while (this.#hints.size > 0 && (this.#hints.firstKey ?? 0) <= startedAt - 1) this.#hints.pop()
      this.#setTimer(Math.min(clock.now() + pollMs, this.#hints.firstKey ?? Number.POSITIVE_INFINITY))
      this.#pollIfRoom()
    })
  }

  async #poll(): Promise<void> {
    const { observer } = this.#parts
    // Without room no claim is made, so there may be more due rows.
    this.#moreIsDue = this.#countFreePlaces() <= 0
    try {
      await this.#parts.renewExpired()
      let claiming = this.#claimIfRoom(0)
      while (claiming !== undefined) {
        const { mayBeMore, rows, grant } = await claiming
        this.#onFirstClaim()
        this.#moreIsDue = mayBeMore
        // The next claim is under way while these rows start, because a claim is mostly waiting.
        claiming = mayBeMore ? this.#claimIfRoom(countPlaces(rows)) : undefined
        // It may fail before it is waited for, and is told of then.
        claiming?.catch(() => undefined)
        await this.#start(rows, grant)
      }
    } catch (error: unknown) {
      const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
      observer.event({ level, name: 'claim-failed', error })
    }
  }

  /** Claims rows if there is room beside the rows that are about to start. */
  #claimIfRoom(aboutToStart: number): Promise<Claimed> | undefined {
    const limit = Math.min(this.#claimLimit, this.#countFreePlaces() - aboutToStart)
    return limit > 0 && !this.#stopped ? this.#claim(limit) : undefined
  }

  async #claim(limit: number): Promise<Claimed> {
    const { store, clock, ids, observer, run, formatMax } = this.#parts
    const sentAt = clock.now()
    const tokens = Array.from({ length: limit }, () => ids.token())
    const result = await this.#adaptLimit(store.claimDue({ limit, leaseMs: run.leaseMs, tokens, formatMax }))
    const { now: storeNow, claimed: rows } = result
    if (rows.length > 0) observer.claimed(rows.length)
    const places = countPlaces(rows)
    if (places > CLAIMED_PLACES_MAX)
      this.#claimLimit = Math.max(1, Math.floor((rows.length * CLAIMED_PLACES_MAX) / places))
    // The store has looked at rows that it did not bring.
    if (result.mayBeMore === true && rows.length > 0 && rows.length < limit)
      this.#claimLimit = Math.min(this.#claimLimit, rows.length * 2)
    const mayBeMore = rows.length === limit || result.mayBeMore === true
    return { mayBeMore, rows, grant: { sentAt, now: clock.now(), storeNow } }
  }

  /**
   * Adapts the limit to the answer. A failed claim may have asked for too
   * much, so the next one asks for half as many rows.
   */
  async #adaptLimit(claiming: Promise<DueClaimResult>): Promise<DueClaimResult> {
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

  /** Starts claimed rows, and leaves the thread to others after each TURN_MS_MAX. A row of many branches may take 2 ms. */
  async #start(rows: readonly StoredTransaction[], grant: Grant): Promise<void> {
    const { clock } = this.#parts
    let turnBeganAt = clock.now()
    for (const row of rows) {
      if (clock.now() - turnBeganAt >= TURN_MS_MAX) {
        await delay(clock, 0)
        turnBeganAt = clock.now()
      }
      const taken = this.#takeOvers.take(row, grant)
      if (taken.type === 'runs') this.#count(row)
      if (taken.type === 'giving-back') this.#trackGivingBack(taken.done, row.gid)
    }
  }

  #count(row: StoredTransaction): void {
    const places = countRowPlaces(row)
    this.#recoveredPlaces += places - (this.#recovered.get(row.gid) ?? 0)
    this.#recovered.set(row.gid, places)
  }

  /**
   * Counts a row until it is given back. It counts against the room, so that
   * such rows do not pile up when the store takes no writes.
   */
  #trackGivingBack(done: Promise<void>, gid: Gid): void {
    this.#givingBack.add(gid)
    void done.then(() => {
      this.#givingBack.delete(gid)
      this.#pollIfRoom()
    })
  }
}

function countPlaces(rows: readonly StoredTransaction[]): number {
  return rows.reduce((sum, row) => sum + countRowPlaces(row), 0)
}
