import type {
  CreateResult,
  DocumentRemoval,
  DocumentRemovalResult,
  DocumentWrite,
  DocumentWriteResult,
  DueClaim,
  DueClaimResult,
  DuePostponement,
  DuePostponementResult,
  Lease,
  ListQuery,
  ListResult,
  NewTransaction,
  RenewResult,
  SingleClaim,
  SingleClaimResult,
  Store,
  StoredDocument,
  StoredTransaction,
  StoreStats,
  TransactionUpdate,
  UpdateResult,
} from '@counterstep/core'
import {
  assertDocumentCategory,
  assertDocumentRemoval,
  assertDocumentWrite,
  assertDueClaim,
  assertDuePostponement,
  assertPurge,
  assertReadMany,
  assertRenew,
  assertUpdate,
  buildDueClaimResult,
  CLAIM_BYTES_MAX,
  PARKED_AT,
  StoreUnavailableError,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { MemoryDocuments } from './memory-documents.ts'
import { listRows } from './memory-list.ts'
import { applyClaim, applyUpdate, isHeld, isLive, makeRow } from './memory-row.ts'
import { countRows } from './memory-stats.ts'

export interface MemoryStoreOptions {
  readonly now?: () => number
  /** Computes the version after a claim or an update. A store that can lose its last writes takes max(version + 1, now). */
  readonly raise?: (version: number, now: number) => number
}

/** The reference store, which shows what every store must do. Each method is one atomic step. */
export function memoryStore({
  now = Date.now,
  raise = (version) => version + 1,
}: MemoryStoreOptions = {}): Store {
  return new MemoryStore(now, raise)
}

class MemoryStore implements Store {
  readonly name = 'memory'
  readonly durabilityClass = 'C'
  readonly failover = 'none'
  readonly capabilities = { durable: false, shared: false }
  readonly #rows = new Map<Gid, StoredTransaction>()
  readonly #documents = new MemoryDocuments()
  readonly #now: () => number
  readonly #raise: (version: number, now: number) => number
  #isClosed = false

  constructor(now: () => number, raise: (version: number, now: number) => number) {
    this.#now = now
    this.#raise = raise
  }

  async create(transaction: NewTransaction): Promise<CreateResult> {
    const now = this.#begin()
    const row = this.#rows.get(transaction.gid)
    if (row === undefined) {
      this.#rows.set(transaction.gid, makeRow(transaction, now))
      return { type: 'created', createdAt: now, now }
    }
    if (isSameWrite(row, transaction)) return { type: 'created', createdAt: row.createdAt, now }
    return { type: 'exists', digest: row.digest, status: row.status, now }
  }

  async readMany(gids: readonly Gid[]): Promise<readonly StoredTransaction[]> {
    this.#begin()
    assertReadMany(gids)
    return [...new Set(gids)].flatMap((gid) => this.#rows.get(gid) ?? [])
  }

  async findFinal(gids: readonly Gid[]): Promise<readonly Gid[]> {
    return (await this.readMany(gids)).flatMap((row) => (isLive(row) ? [] : [row.gid]))
  }

  async update(update: TransactionUpdate): Promise<UpdateResult> {
    const now = this.#begin()
    assertUpdate(update)
    const row = this.#rows.get(update.gid)
    if (row === undefined) return { type: 'absent' }
    if (row.token !== update.token) return { type: 'fenced' }
    if (isSameWrite(row, update)) return { type: 'saved', version: row.version, now }
    // A final row takes no update, not even with its own version.
    if (row.version !== update.version || !isLive(row)) return { type: 'conflict', version: row.version }
    const saved = applyUpdate(row, update, this.#raise(row.version, now), now)
    this.#rows.set(row.gid, saved)
    return { type: 'saved', version: saved.version, now }
  }

  async renew(leases: readonly Lease[], leaseMs: number): Promise<RenewResult> {
    const now = this.#begin()
    assertRenew(leases)
    const renewed: { gid: Gid; version: number }[] = []
    const lost: Gid[] = []
    for (const { gid, token } of leases) {
      const row = this.#rows.get(gid)
      if (row?.token === token && row.owned) {
        this.#rows.set(gid, { ...row, dueAt: now + leaseMs })
        renewed.push({ gid, version: row.version })
      } else {
        lost.push(gid)
      }
    }
    return { now, renewed, lost }
  }

  async claimDue({ limit, leaseMs, tokens, formatMax }: DueClaim): Promise<DueClaimResult> {
    const now = this.#begin()
    assertDueClaim({ limit, tokens })
    const claimed: StoredTransaction[] = []
    let bytes = 0
    for (const row of this.#findOldestDue(now, formatMax, limit)) {
      if (bytes >= CLAIM_BYTES_MAX) break
      claimed.push(
        applyClaim(row, tokens[claimed.length] ?? '', this.#raise(row.version, now), now + leaseMs),
      )
      bytes += Buffer.byteLength(row.definition) + Buffer.byteLength(row.progress)
    }
    for (const row of claimed) this.#rows.set(row.gid, row)
    return buildDueClaimResult(now, claimed)
  }

  async claim({ gid, token, leaseMs, formatMax }: SingleClaim): Promise<SingleClaimResult> {
    const now = this.#begin()
    const row = this.#rows.get(gid)
    if (row === undefined) return { type: 'refused', reason: 'absent' }
    if (!isLive(row)) return { type: 'refused', reason: 'final' }
    if (row.dueAt >= PARKED_AT) return { type: 'refused', reason: 'parked' }
    if (isHeld(row, now)) return { type: 'refused', reason: 'held' }
    if (row.format > formatMax) return { type: 'refused', reason: 'format' }
    const transaction = applyClaim(row, token, this.#raise(row.version, now), now + leaseMs)
    this.#rows.set(gid, transaction)
    return { type: 'claimed', transaction, now }
  }

  async postponeDue({ limit, byMs, formatMax }: DuePostponement): Promise<DuePostponementResult> {
    const now = this.#begin()
    assertDuePostponement({ limit, byMs })
    const postponed = this.#findOldestDue(now, formatMax, limit)
    for (const row of postponed) this.#rows.set(row.gid, { ...row, owned: false, dueAt: now + byMs })
    return { now, gids: postponed.map(({ gid }) => gid) }
  }

  async list(query: ListQuery): Promise<ListResult> {
    this.#begin()
    return listRows(this.#rows.values(), query)
  }

  async stats(): Promise<StoreStats> {
    const now = this.#begin()
    return countRows(this.#rows.values(), now)
  }

  async purgeFinished(limit: number): Promise<{ readonly purged: number }> {
    const now = this.#begin()
    assertPurge(limit)
    const over = [...this.#rows.values()].filter((row) => !isLive(row) && row.dueAt <= now).slice(0, limit)
    for (const row of over) this.#rows.delete(row.gid)
    return { purged: over.length }
  }

  async readDocuments(category: string): Promise<readonly StoredDocument[]> {
    this.#begin()
    assertDocumentCategory(category)
    return this.#documents.read(category)
  }

  async writeDocument(write: DocumentWrite): Promise<DocumentWriteResult> {
    const now = this.#begin()
    assertDocumentWrite(write)
    return this.#documents.write(write, now)
  }

  async removeDocument(removal: DocumentRemoval): Promise<DocumentRemovalResult> {
    this.#begin()
    assertDocumentRemoval(removal)
    return this.#documents.remove(removal)
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }

  #findOldestDue(now: number, formatMax: number, limit: number): readonly StoredTransaction[] {
    return [...this.#rows.values()]
      .filter((row) => isLive(row) && row.dueAt <= now && row.dueAt < PARKED_AT && row.format <= formatMax)
      .sort((a, b) => a.dueAt - b.dueAt)
      .slice(0, limit)
  }

  #begin(): number {
    if (this.#isClosed) throw new StoreUnavailableError('the store is closed', { applied: 'no' })
    return this.#now()
  }
}

/**
 * The write was sent before. The token must be the same too: once another owner has claimed the row, the repeat of an old
 * write must not tell its sender that it still owns the row.
 */
function isSameWrite(
  row: StoredTransaction,
  write: { readonly token: string; readonly writeId: string },
): boolean {
  return row.token === write.token && row.writeId === write.writeId
}
