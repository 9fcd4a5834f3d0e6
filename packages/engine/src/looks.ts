import {
  type Clock,
  countShownCharacters,
  getBranchTargets,
  type ListQuery,
  type ListResult,
  mayShow,
  type Store,
  type StoredTransaction,
  type Transaction,
} from '@counterstep/core'
import type { Gid, TransactionView } from '@counterstep/protocol'
import type { NeedsTurn, RowTurn } from './large-turns.ts'
import { chooseNewestView } from './newest-view.ts'
import { ReadLimiter } from './read-limiter.ts'
import type { Runner } from './runner.ts'
import type { EngineSettings } from './settings.ts'

/**
 * Each place for a scan rests nine times as long as the scan took, at most
 * this long, so that writers find the store free.
 */
const SCAN_REST = { restFactor: 9, restMsMax: 500 }
/**
 * Single reads are cheap for the store. The rests exist because a caller
 * that asks again at once keeps the event loop busy.
 */
const READ_REST = { restFactor: 4, restMsMax: 20 }
/**
 * The work after a read keeps the thread of the writers busy: a view of large payloads for 0.3 s. So it is done for one look at a time, and
 * four fifths of that thread are left to others, or a second after a longer work.
 */
const WORK_REST = { atOnceMax: 1, restFactor: 4, restMsMax: 1_000 }
/** A large row costs little to read, but it is parsed, shown and written, for some 30 ns of the thread a character. */
const REST_CHARACTERS_PER_MS = 400
/** A text of at most this size costs no more than the read itself. */
const SMALL_CHARACTERS = 8_192
/** A view from memory costs the same: each branch may show two URLs of 2 KiB. */
const REST_MS_PER_BRANCH = 2
/** A transaction that runs here is shown without a turn if it has no more branches, and has not been answered much. */
const SHOWN_BRANCHES_MAX = 8

export interface LooksParts {
  readonly store: Store
  readonly clock: Clock
  readonly settings: EngineSettings
  /** The runner and the acceptance tell those who watch, and who watches looks here. So they come later. */
  readonly later: () => {
    readonly runner: Runner
    /** Shows a transaction that is accepted here, and not stored yet. */
    readonly acceptance: { pendingView(gid: Gid): TransactionView | undefined }
  }
}

/** Shows transactions to those who look. Looks take turns, so that they never hold up those who write. */
export class Looks {
  readonly #parts: LooksParts
  /** Lists take turns here, since they scan. */
  readonly #scans: ReadLimiter
  /** Reads of single transactions and documents take turns here. */
  readonly #reads: ReadLimiter
  /** The work that follows a read takes turns here. It holds the place of its read meanwhile, so that few rows are held. */
  readonly #works: ReadLimiter

  constructor(parts: LooksParts) {
    this.#parts = parts
    const { clock, settings } = parts
    const { scansAtOnceMax, readsAtOnceMax, readsWaitingMax: waitingMax, readWaitMs: waitMs } = settings
    const common = { waitingMax, waitMs }
    this.#scans = new ReadLimiter(clock, { ...common, atOnceMax: scansAtOnceMax, ...SCAN_REST })
    this.#reads = new ReadLimiter(clock, { ...common, atOnceMax: readsAtOnceMax, ...READ_REST })
    this.#works = new ReadLimiter(clock, { ...common, ...WORK_REST })
  }

  /** Shows a transaction without a turn. */
  get(gid: Gid): Promise<TransactionView | undefined> {
    return this.#show(gid, () => this.readRow(gid))
  }

  /** Shows a transaction in a turn for large rows, or finds that it needs one first. */
  async getByTurn(gid: Gid, turn: RowTurn): Promise<TransactionView | NeedsTurn | undefined> {
    if (this.#isShownFromMemory(gid)) {
      const { runner } = this.#parts.later()
      return turn.note(runner.countPlaces(gid)) ?? runner.view(gid)
    }
    const row = await turn.read()
    return row === 'needs-turn' ? row : await this.#showRow(gid, row)
  }

  /** Shows a transaction in the caller's turn. Throws SAGA_TOO_MANY_READS. */
  show(gid: Gid, caller?: string): Promise<TransactionView | undefined> {
    const run = this.#parts.later().runner.get(gid)
    const restMsMin = run === undefined ? 0 : restMsOfView(run.transaction)
    if (restMsMin > 0 && this.#isShownFromMemory(gid))
      return this.#reads.run(
        () => this.get(gid),
        caller,
        () => restMsMin,
      )
    return this.#show(gid, () => this.readRowInTurn(gid, caller, restMsMin))
  }

  /** Shows the run here if it is newer than the row, else the row. */
  showNewest(row: StoredTransaction): TransactionView {
    return chooseNewestView({ ...this.#parts.later(), clock: this.#parts.clock }, row)
  }

  readRowInTurn(gid: Gid, caller: string | undefined, restMsMin = 0): Promise<StoredTransaction | undefined> {
    return this.#reads.run(
      () => this.readRow(gid),
      caller,
      (row) => Math.max(restMsMin, restMsOfRow(row)),
    )
  }

  /** Resolves when what the row says of a decision cannot be lost any more. Steps that a client has recorded are decisions, too. */
  async settle({ kind, status }: Pick<StoredTransaction, 'kind' | 'status'>): Promise<void> {
    const isOpen = status === 'prepared' || status === 'submitted'
    if (!isOpen || kind === 'recorded') await this.#parts.store.settle?.()
  }

  /** Reads a row if no other read waits for its turn. Otherwise returns undefined, and nothing is read. */
  readRowAtOnce(gid: Gid): Promise<StoredTransaction | undefined> | undefined {
    return this.#reads.runAtOnce(() => this.readRow(gid))
  }

  async readRow(gid: Gid): Promise<StoredTransaction | undefined> {
    const [row] = await this.#parts.store.readMany([gid])
    return row
  }

  /** Reads something in the caller's turn, and makes of it what is shown. `work` does not wait for anything. Throws SAGA_TOO_MANY_READS. */
  take<Read, Shown>(read: () => Promise<Read>, work: (read: Read) => Shown, caller?: string): Promise<Shown> {
    return this.#reads.run(async () => {
      const found = await read()
      return await this.#works.run(async () => work(found), caller)
    }, caller)
  }

  /** Waits for the caller's turn to be sent a text that the host has ready. Throws SAGA_TOO_MANY_READS. */
  waitForTurn(characters: number, caller?: string): Promise<void> {
    return this.#reads.run(
      () => Promise.resolve(),
      caller,
      () => restMsOfCharacters(characters),
    )
  }

  list(query: ListQuery, caller?: string): Promise<ListResult> {
    return this.#scans.run(() => this.#parts.store.list(query), caller)
  }

  /** Other nodes may have changed a row of a shared store, so it is always read. */
  #isShownFromMemory(gid: Gid): boolean {
    const { store, clock, later } = this.#parts
    const run = store.capabilities.shared ? undefined : later().runner.get(gid)
    return run !== undefined && mayShow(run, clock.now())
  }

  async #show(
    gid: Gid,
    readRow: () => Promise<StoredTransaction | undefined>,
  ): Promise<TransactionView | undefined> {
    if (this.#isShownFromMemory(gid)) return this.#parts.later().runner.view(gid)
    return await this.#showRow(gid, await readRow())
  }

  async #showRow(gid: Gid, row: StoredTransaction | undefined): Promise<TransactionView | undefined> {
    const { runner, acceptance } = this.#parts.later()
    // The transaction may have been accepted here while the store was read.
    if (row === undefined) return runner.view(gid) ?? acceptance.pendingView(gid)
    await this.settle(row)
    return this.showNewest(row)
  }
}

function restMsOfRow(row: StoredTransaction | undefined): number {
  return row === undefined ? 0 : restMsOfCharacters(row.definition.length + row.progress.length)
}

function restMsOfView(transaction: Transaction): number {
  const branches = getBranchTargets(transaction).length
  const restMs = branches > SHOWN_BRANCHES_MAX ? branches * REST_MS_PER_BRANCH : 0
  return restMs + restMsOfCharacters(countShownCharacters(transaction))
}

function restMsOfCharacters(characters: number): number {
  return Math.ceil(Math.max(0, characters - SMALL_CHARACTERS) / REST_CHARACTERS_PER_MS)
}
