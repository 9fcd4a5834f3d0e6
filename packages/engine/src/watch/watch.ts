import { hash } from 'node:crypto'
import {
  type Clock,
  READ_MANY_MAX,
  type Store,
  type StoredTransaction,
  StoreUnavailableError,
  toListed,
} from '@counterstep/core'
import { type Gid, isFinalStatus, type TransactionSummary, type TransactionView } from '@counterstep/protocol'
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

/** A view as it is sent. It is written once for all who watch. */
export interface ShownView {
  readonly gid: string
  readonly json: string
}

export interface Watcher {
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
  /** Shows a run without its row. Undefined: the row has to be read first. */
  readonly showFromMemory: (gid: Gid) => TransactionView | undefined
  /** Shows the run here if it is newer than its row, else the row. */
  readonly showNewest: (row: StoredTransaction) => TransactionView
}

interface Watched {
  readonly watchers: Set<Watcher>
  /** They are told the next view even if it is no other than the last one. */
  readonly owed: Set<Watcher>
  readAt: number
  delayMs: number
  /** The digest of the view that was told last. A view may be long. */
  told: string | undefined
}

/**
 * Tells watchers how transactions change. A run here says when it has changed; the others are read from the store, all of
 * them in one call. A view comes about as for `get`, so it never goes back behind what a caller has seen.
 */
export class Watch {
  readonly #parts: WatchParts
  readonly #watchers = new Set<Watcher>()
  readonly #watched = new Map<Gid, Watched>()
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
  }

  #find(gid: Gid): Watched {
    const known = this.#watched.get(gid)
    if (known !== undefined) return known
    const now = this.#parts.clock.now()
    const watched = {
      watchers: new Set<Watcher>(),
      owed: new Set<Watcher>(),
      readAt: now,
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
      watched.owed.add(watcher)
      this.#readSoon(watched)
    }
  }

  #close(watcher: Watcher): void {
    this.#watchers.delete(watcher)
    for (const gid of watcher.gids) {
      const watched = this.#watched.get(gid)
      watched?.watchers.delete(watcher)
      watched?.owed.delete(watcher)
      if (watched?.watchers.size === 0) this.#watched.delete(gid)
    }
    if (![...this.#watchers].some(({ wantsFresh }) => wantsFresh)) this.#freshAt = Number.POSITIVE_INFINITY
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
      // While the store is away, nothing changes for those who watch. A bug ends this round alone.
      if (!(error instanceof StoreUnavailableError))
        this.#parts.observer.event({ level: 'error', name: 'watch-failed', error })
    } finally {
      this.#isTelling = false
      this.#setNextTimer()
    }
  }

  async #tellDue(): Promise<void> {
    const { clock, showFromMemory, showNewest } = this.#parts
    const now = clock.now()
    this.#toldAt = now
    const isFreshDue = now >= this.#freshAt
    const { gids: fresh, more } = isFreshDue ? this.#fresh.take() : { gids: [], more: 0 }
    if (isFreshDue) this.#freshAt = now + FRESH_EVERY_MS
    const toRead = new Set<Gid>(fresh)
    for (const [gid, watched] of this.#watched) {
      if (watched.readAt > now) continue
      watched.delayMs = Math.min(Math.max(READ_MS_MIN, watched.delayMs * 2), READ_MS_MAX)
      watched.readAt = now + watched.delayMs
      const view = showFromMemory(gid)
      if (view === undefined) toRead.add(gid)
      else this.#show(gid, view)
    }
    const rows = await this.#read([...toRead])
    for (const row of rows) if (this.#watched.has(row.gid)) this.#show(row.gid, showNewest(row))
    this.#tellFresh(new Set(fresh), rows, more)
  }

  async #read(gids: readonly Gid[]): Promise<readonly StoredTransaction[]> {
    const rows: StoredTransaction[] = []
    for (let from = 0; from < gids.length; from += READ_MANY_MAX)
      rows.push(...(await this.#parts.store.readMany(gids.slice(from, from + READ_MANY_MAX))))
    return rows
  }

  #show(gid: Gid, view: TransactionView): void {
    const watched = this.#watched.get(gid)
    if (watched === undefined) return
    const json = JSON.stringify(view)
    const digest = hash('sha1', json)
    const hasChanged = digest !== watched.told
    const told = hasChanged ? watched.watchers : watched.owed
    for (const watcher of [...told]) watcher.onView({ gid, json })
    watched.owed.clear()
    watched.told = digest
    if (hasChanged) watched.delayMs = READ_MS_MIN
    // A final transaction never changes.
    watched.readAt = isFinalStatus(view.status) ? Number.POSITIVE_INFINITY : this.#toldAt + watched.delayMs
  }

  #tellFresh(fresh: ReadonlySet<Gid>, rows: readonly StoredTransaction[], more: number): void {
    if (fresh.size === 0) return
    const summaries = rows.filter(({ gid }) => fresh.has(gid)).map((row) => toSummary(toListed(row)))
    for (const watcher of [...this.#watchers]) if (watcher.wantsFresh) watcher.onFresh(summaries, more)
  }

  #setNextTimer(): void {
    let next = this.#freshAt
    for (const { readAt } of this.#watched.values()) next = Math.min(next, readAt)
    if (next < Number.POSITIVE_INFINITY) this.#setTimer(Math.max(next, this.#toldAt + TELL_EVERY_MS))
  }
}
