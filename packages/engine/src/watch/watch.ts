import { hash } from 'node:crypto'
import { setImmediate as waitForLoopTurn } from 'node:timers/promises'
import {
  type Clock,
  type LiveTurn,
  type Store,
  type StoredTransaction,
  StoreUnavailableError,
  takeLiveTurn,
  toListed,
} from '@counterstep/core'
import {
  type Gid,
  isCounterstepError,
  isFinalStatus,
  type TransactionSummary,
  type TransactionView,
} from '@counterstep/protocol'
import type { EngineObserver } from '../observer.ts'
import { toSummary } from '../summary.ts'
import { FreshGids } from './fresh-gids.ts'

/** A change is told so often at most. */
const TELL_EVERY_MS = 250
/** A transaction that another node runs is read again after this time, which doubles while nothing changes. */
const READ_MS_MIN = 250
const READ_MS_MAX = 2_000
/** The transactions that are new, marked or ended are told so often. */
const FRESH_EVERY_MS = 1_000
/** New transactions are read so many at once, until they have this many characters. The others are only counted. */
const FRESH_ROWS_AT_ONCE = 5
const FRESH_CHARACTERS_MAX = 1_000_000
/** One turn of the event loop begins so many looks of a caller at most, since looks from memory wait for nothing. */
const LOOKS_PER_TURN_MAX = 100
/** A caller that was sent nothing for this long has all of its pace again. */
const FORGET_MS = 10_000

/** A view as it is sent. It is written once for all who watch. */
export interface ShownView {
  readonly gid: string
  readonly json: string
}

export interface Watcher {
  /** The looks for a watcher take their turns as looks of this caller. */
  readonly caller: string
  readonly gids: readonly Gid[]
  readonly wantsFresh: boolean
  /** A transaction has changed, or it is the first time that it is told. */
  onView(view: ShownView): void
  /** `more` is how many there were beside these. */
  onFresh(summaries: readonly TransactionSummary[], more: number): void
  /** The node stops, and tells nothing more. */
  onEnd(): void
}

export interface Watching {
  /** Tells all transactions of the watcher once more, because it could not take what it was told. */
  refresh(): void
  close(): void
}

export interface WatchParts {
  readonly store: Pick<Store, 'readMany'>
  readonly clock: Clock
  readonly observer: EngineObserver
  /** Shows a transaction in the caller's turn, as for a request. It may throw SAGA_TOO_MANY_READS. */
  readonly show: (gid: Gid, caller: string) => Promise<TransactionView | undefined>
}

interface Watched {
  readonly watchers: Set<Watcher>
  /**
   * They are told the next view even if it is no other than the last one, and not before their turn, if they have taken one
   * already.
   */
  readonly owed: Map<Watcher, LiveTurn | undefined>
  readAt: number
  /** It stands in the queue of this caller. */
  queuedFor: string | undefined
  delayMs: number
  /** The digest of the view that was told last. A view may be long. */
  told: string | undefined
}

/**
 * Tells watchers how transactions change. A run here says when it has changed; at the others it looks again and again. A
 * look costs what the request of the same caller would cost, and takes turns with these. Each caller has one look under way.
 */
export class Watch {
  readonly #parts: WatchParts
  readonly #watchers = new Set<Watcher>()
  readonly #watched = new Map<Gid, Watched>()
  /**
   * The gids that a caller's looks have still to come to, each of them once, and each of them watched. Such a queue ends when
   * it is empty.
   */
  readonly #queues = new Map<string, Set<Gid>>()
  /** When a caller may be sent the next view. */
  readonly #nextTurnAt = new Map<string, number>()
  readonly #fresh = new FreshGids()
  #freshAt = Number.POSITIVE_INFINITY
  #toldAt = Number.NEGATIVE_INFINITY
  #isTelling = false
  #timerAt = Number.POSITIVE_INFINITY
  #cancelTimer: () => void = () => undefined
  #isEnded = false

  constructor(parts: WatchParts) {
    this.#parts = parts
  }

  /** While it is false, nothing needs to be reported here. */
  get isOpen(): boolean {
    return this.#watchers.size > 0
  }

  /** A run of this node has changed. */
  reportChange(gid: Gid): void {
    const watched = this.#watched.get(gid)
    if (watched !== undefined) this.#readSoon(watched)
  }

  /** A transaction was accepted, has ended, or needs attention now. */
  reportFresh(gid: Gid): void {
    this.#fresh.add(gid)
    this.reportChange(gid)
  }

  open(watcher: Watcher): Watching {
    if (this.#isEnded) {
      watcher.onEnd()
      return { refresh: () => undefined, close: () => undefined }
    }
    this.#watchers.add(watcher)
    for (const gid of watcher.gids) this.#find(gid).watchers.add(watcher)
    if (watcher.wantsFresh && this.#freshAt === Number.POSITIVE_INFINITY) {
      this.#fresh.clear()
      this.#freshAt = this.#parts.clock.now() + FRESH_EVERY_MS
      this.#setTimer(this.#freshAt)
    }
    const refresh = () => this.#owe(watcher)
    refresh()
    return { refresh, close: () => this.#close(watcher) }
  }

  /** The node stops. */
  end(): void {
    this.#isEnded = true
    this.#cancelTimer()
    for (const watcher of [...this.#watchers]) watcher.onEnd()
    this.#watchers.clear()
    this.#watched.clear()
    for (const queue of this.#queues.values()) queue.clear()
  }

  #find(gid: Gid): Watched {
    const known = this.#watched.get(gid)
    if (known !== undefined) return known
    const now = this.#parts.clock.now()
    const watched = {
      watchers: new Set<Watcher>(),
      owed: new Map<Watcher, LiveTurn | undefined>(),
      readAt: now,
      queuedFor: undefined,
      delayMs: 0,
      told: undefined,
    }
    this.#watched.set(gid, watched)
    return watched
  }

  #owe(watcher: Watcher): void {
    for (const gid of watcher.gids) {
      const watched = this.#watched.get(gid)
      if (watched === undefined || !watched.watchers.has(watcher)) continue
      watched.owed.set(watcher, watched.owed.get(watcher))
      this.#readSoon(watched)
    }
  }

  #close(watcher: Watcher): void {
    this.#watchers.delete(watcher)
    for (const gid of watcher.gids) {
      const watched = this.#watched.get(gid)
      if (watched === undefined) continue
      watched.watchers.delete(watcher)
      this.#returnTurn(watcher.caller, watched.owed.get(watcher))
      watched.owed.delete(watcher)
      if (watched.watchers.size === 0) this.#watched.delete(gid)
      this.#leaveQueue(gid, watched)
    }
    if (![...this.#watchers].some(({ wantsFresh }) => wantsFresh)) this.#freshAt = Number.POSITIVE_INFINITY
    const now = this.#parts.clock.now()
    for (const [caller, at] of this.#nextTurnAt) if (at < now - FORGET_MS) this.#nextTurnAt.delete(caller)
  }

  /** A gid stands in the queue of a caller that watches it. If that has closed its stream, those that are left look at it. */
  #leaveQueue(gid: Gid, watched: Watched): void {
    const { queuedFor } = watched
    const [watcher] = watched.watchers
    if (queuedFor === undefined || queuedFor === watcher?.caller) return
    this.#queues.get(queuedFor)?.delete(gid)
    watched.queuedFor = undefined
    if (watcher !== undefined) this.#readSoon(watched)
  }

  #readSoon(watched: Watched): void {
    watched.readAt = Math.min(watched.readAt, this.#parts.clock.now())
    watched.delayMs = 0
    this.#setTimer(Math.max(watched.readAt, this.#toldAt + TELL_EVERY_MS))
  }

  #setTimer(at: number): void {
    if (this.#isEnded || at >= this.#timerAt) return
    this.#cancelTimer()
    this.#timerAt = at
    const { clock } = this.#parts
    this.#cancelTimer = clock.after(Math.max(0, at - clock.now()), () => void this.#tell())
  }

  async #tell(): Promise<void> {
    this.#timerAt = Number.POSITIVE_INFINITY
    // The one that is under way sets the timer again.
    if (this.#isTelling) return
    this.#isTelling = true
    try {
      await this.#tellDue()
    } catch (error: unknown) {
      this.#report(error)
    } finally {
      this.#isTelling = false
      this.#setNextTimer()
    }
  }

  async #tellDue(): Promise<void> {
    const now = this.#parts.clock.now()
    this.#toldAt = now
    for (const [gid, watched] of this.#watched) {
      if (watched.queuedFor !== undefined || findDueAt(watched) > now) continue
      watched.delayMs = Math.min(Math.max(READ_MS_MIN, watched.delayMs * 2), READ_MS_MAX)
      watched.readAt = now + watched.delayMs
      this.#queue(gid, watched)
    }
    if (now < this.#freshAt) return
    this.#freshAt = now + FRESH_EVERY_MS
    await this.#tellFresh()
  }

  /** The looks are those of the caller that has watched the transaction for the longest time. */
  #queue(gid: Gid, watched: Watched): void {
    const [watcher] = watched.watchers
    if (watcher === undefined) return
    watched.queuedFor = watcher.caller
    const queue = this.#queues.get(watcher.caller)
    if (queue !== undefined) {
      queue.add(gid)
      return
    }
    const opened = new Set([gid])
    this.#queues.set(watcher.caller, opened)
    void this.#lookAtAll(watcher.caller, opened)
  }

  async #lookAtAll(caller: string, queue: Set<Gid>): Promise<void> {
    let looks = 0
    // One iterator goes through them all: each new one would pass by those that were taken before.
    for (const gid of queue) {
      queue.delete(gid)
      const watched = this.#watched.get(gid)
      if (watched === undefined) continue
      watched.queuedFor = undefined
      try {
        const view = await this.#parts.show(gid, caller)
        if (view !== undefined) this.#show(gid, view)
      } catch (error: unknown) {
        this.#report(error)
      }
      looks++
      if (looks % LOOKS_PER_TURN_MAX === 0) await waitForLoopTurn()
    }
    this.#queues.delete(caller)
    this.#setNextTimer()
  }

  /** While the store is away or has no turn for them, nothing changes for those who watch. A bug ends one look alone. */
  #report(error: unknown): void {
    const isAway = error instanceof StoreUnavailableError || isCounterstepError(error)
    if (!isAway) this.#parts.observer.event({ level: 'error', name: 'watch-failed', error })
  }

  #show(gid: Gid, view: TransactionView): void {
    const watched = this.#watched.get(gid)
    if (watched === undefined) return
    const json = JSON.stringify(view)
    const digest = hash('sha1', json)
    const hasChanged = digest !== watched.told
    const told = hasChanged ? watched.watchers : watched.owed.keys()
    for (const watcher of [...told]) this.#tellOrOwe(watched, watcher, { gid, json })
    watched.told = digest
    if (hasChanged) watched.delayMs = READ_MS_MIN
    // A final transaction never changes.
    const readAt = isFinalStatus(view.status) ? Number.POSITIVE_INFINITY : this.#toldAt + watched.delayMs
    watched.readAt = Math.min(readAt, findOwedAt(watched))
  }

  /** A watcher whose turn comes later is told then how the transaction is by that time. */
  #tellOrOwe({ owed }: Watched, watcher: Watcher, view: ShownView): void {
    const turn = owed.get(watcher) ?? this.#takeTurn(watcher.caller, view.json.length)
    if (turn.at > this.#parts.clock.now()) {
      owed.set(watcher, turn)
      return
    }
    owed.delete(watcher)
    watcher.onView(view)
  }

  #takeTurn(caller: string, characters: number): LiveTurn {
    const nextAt = this.#nextTurnAt.get(caller) ?? Number.NEGATIVE_INFINITY
    const turn = takeLiveTurn(nextAt, this.#parts.clock.now(), characters)
    this.#nextTurnAt.set(caller, turn.nextAt)
    return turn
  }

  /** A stream that closes before its turn leaves the time to the other streams of its caller. */
  #returnTurn(caller: string, turn: LiveTurn | undefined): void {
    const nextAt = this.#nextTurnAt.get(caller)
    if (turn !== undefined && nextAt !== undefined)
      this.#nextTurnAt.set(caller, nextAt - (turn.nextAt - turn.at))
  }

  async #tellFresh(): Promise<void> {
    const { gids, more } = this.#fresh.take()
    if (gids.length === 0) return
    const rows: StoredTransaction[] = []
    let characters = 0
    let read = 0
    for (; read < gids.length && characters < FRESH_CHARACTERS_MAX; read += FRESH_ROWS_AT_ONCE) {
      const some = await this.#parts.store.readMany(gids.slice(read, read + FRESH_ROWS_AT_ONCE))
      rows.push(...some)
      for (const { definition, progress } of some) characters += definition.length + progress.length
    }
    const summaries = rows.map((row) => toSummary(toListed(row)))
    const left = more + Math.max(0, gids.length - read)
    for (const watcher of [...this.#watchers]) if (watcher.wantsFresh) watcher.onFresh(summaries, left)
  }

  #setNextTimer(): void {
    let next = this.#freshAt
    for (const watched of this.#watched.values())
      if (watched.queuedFor === undefined) next = Math.min(next, findDueAt(watched))
    if (next < Number.POSITIVE_INFINITY) this.#setTimer(Math.max(next, this.#toldAt + TELL_EVERY_MS))
  }
}

/** A transaction is not looked at before one of its watchers may be told. */
function findDueAt(watched: Watched): number {
  const { readAt, owed, watchers } = watched
  return owed.size < watchers.size ? readAt : Math.max(readAt, findOwedAt(watched))
}

/** Finds when the first of the owed watchers may be told. */
function findOwedAt({ owed }: Watched): number {
  let first = Number.POSITIVE_INFINITY
  for (const turn of owed.values()) first = Math.min(first, turn?.at ?? Number.NEGATIVE_INFINITY)
  return first
}
