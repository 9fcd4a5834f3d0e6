import {
  AssertionError,
  assertDocumentCategory,
  assertDocumentRemoval,
  assertDocumentWrite,
  assertDueClaim,
  assertDuePostponement,
  assertPurge,
  assertReadMany,
  assertRenew,
  assertUpdate,
  type CreateResult,
  type DocumentRemoval,
  type DocumentRemovalResult,
  type DocumentWrite,
  type DocumentWriteResult,
  type DueClaim,
  type DueClaimResult,
  type DuePostponement,
  type DuePostponementResult,
  type DurabilityClass,
  type Lease,
  type ListQuery,
  type ListResult,
  MARK_BITS,
  type NewTransaction,
  type RenewResult,
  type SingleClaim,
  type SingleClaimResult,
  type Store,
  type StoredDocument,
  type StoredTransaction,
  type StoreStats,
  StoreUnavailableError,
  type TransactionUpdate,
  type UpdateResult,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { decodeStats } from './decode-stats.ts'
import {
  decodeClaim,
  decodeClaimDue,
  decodeCreate,
  decodePostponeDue,
  decodePurge,
  decodeRemoveDocument,
  decodeRenew,
  decodeUpdate,
  decodeWriteDocument,
} from './decode-writes.ts'
import {
  countBytes,
  encodeClaim,
  encodeClaimDue,
  encodeCreate,
  encodePostponeDue,
  encodeRemoveDocument,
  encodeRenew,
  encodeUpdate,
  encodeWriteDocument,
} from './encode-writes.ts'
import { readPage } from './list-page.ts'
import type { Write } from './messages.ts'
import { readDocuments } from './read-documents.ts'
import type { ReaderLink } from './reader-link.ts'
import type { RoomMark } from './room-mark.ts'
import { toStoredTransaction } from './stored-row.ts'
import type { WorkerLink } from './worker-link.ts'
import type { Decode, WriteQueue } from './write-queue.ts'

export interface SqliteCounters {
  /** Counts the committed batches, each with one flush of the disk. */
  readonly commits: number
  readonly rows: number
}

export interface SqliteStoreParts {
  readonly reader: ReaderLink
  readonly queue: WriteQueue
  readonly now: () => number
  readonly room: RoomMark
}

/**
 * This is the store over two threads. Every method puts a call into the writer's queue or asks the reader, and
 * decodes the answer.
 */
export class SqliteStore implements Store {
  readonly name = 'sqlite'
  readonly durabilityClass: DurabilityClass
  readonly failover = 'none'
  readonly capabilities = { durable: true, shared: false }
  readonly #link: WorkerLink
  readonly #reader: ReaderLink
  readonly #queue: WriteQueue
  readonly #now: () => number
  readonly #room: RoomMark
  #closing: Promise<void> | undefined

  constructor(link: WorkerLink, { reader, queue, now, room }: SqliteStoreParts) {
    this.durabilityClass = link.durabilityClass
    this.#link = link
    this.#reader = reader
    this.#room = room
    this.#queue = queue
    this.#now = now
  }

  get isShortOfRoom(): boolean {
    return this.#room.isShort
  }

  create(transaction: NewTransaction): Promise<CreateResult> {
    if (this.#closing !== undefined) return this.#refuse()
    const bytes = countBytes(transaction.definition) + countBytes(transaction.progress)
    return this.#queue.write(encodeCreate(transaction), { rows: 1, bytes }, decodeCreate, undefined)
  }

  async update(update: TransactionUpdate): Promise<UpdateResult> {
    if (this.#closing !== undefined) return this.#refuse()
    assertUpdate(update)
    const size = { rows: 1, bytes: countBytes(update.progress) }
    return this.#queue.write(encodeUpdate(update), size, decodeUpdate, update.version)
  }

  async renew(leases: readonly Lease[], leaseMs: number): Promise<RenewResult> {
    assertRenew(leases)
    return this.#write(encodeRenew(leases, leaseMs), leases.length, decodeRenew, leases)
  }

  async claimDue(claim: DueClaim): Promise<DueClaimResult> {
    assertDueClaim(claim)
    return this.#write(encodeClaimDue(claim), claim.limit, decodeClaimDue, undefined)
  }

  async claim(claim: SingleClaim): Promise<SingleClaimResult> {
    return this.#write(encodeClaim(claim), 1, decodeClaim, undefined)
  }

  async postponeDue(postponement: DuePostponement): Promise<DuePostponementResult> {
    assertDuePostponement(postponement)
    return this.#write(encodePostponeDue(postponement), postponement.limit, decodePostponeDue, undefined)
  }

  async purgeFinished(limit: number): Promise<{ readonly purged: number }> {
    assertPurge(limit)
    return this.#write(['purge', limit], limit, decodePurge, undefined)
  }

  /**
   * Leaves out a row of a later version, so that it does not spoil the others. It is a bug only for a caller that
   * asks for it alone.
   */
  async readMany(gids: readonly Gid[]): Promise<readonly StoredTransaction[]> {
    assertReadMany(gids)
    if (this.#closing !== undefined) return this.#refuse()
    const rows = await this.#reader.read({ type: 'readMany', gids: [...new Set(gids)] })
    const transactions = rows.flatMap((row) => toStoredTransaction(row) ?? [])
    if (gids.length === 1 && transactions.length < rows.length)
      throw new AssertionError(`${gids[0]} has codes of a later version`)
    return transactions
  }

  async findFinal(gids: readonly Gid[]): Promise<readonly Gid[]> {
    assertReadMany(gids)
    if (this.#closing !== undefined) return this.#refuse()
    const rows = await this.#reader.read({ type: 'findFinal', gids: [...new Set(gids)] })
    return rows.map(([gid]) => gid as Gid)
  }

  async list(query: ListQuery): Promise<ListResult> {
    if (this.#closing !== undefined) return this.#refuse()
    return readPage(query, (read) => this.#reader.read(read))
  }

  async stats(): Promise<StoreStats> {
    if (this.#closing !== undefined) return this.#refuse()
    const now = this.#now()
    return decodeStats(await this.#reader.read({ type: 'stats', pausedBit: MARK_BITS.paused }), now)
  }

  async readDocuments(category: string): Promise<readonly StoredDocument[]> {
    assertDocumentCategory(category)
    if (this.#closing !== undefined) return this.#refuse()
    return readDocuments(this.#reader, category)
  }

  async writeDocument(write: DocumentWrite): Promise<DocumentWriteResult> {
    assertDocumentWrite(write)
    if (this.#closing !== undefined) return this.#refuse()
    const size = { rows: 1, bytes: countBytes(write.text) }
    return this.#queue.write(encodeWriteDocument(write), size, decodeWriteDocument, undefined)
  }

  async removeDocument(removal: DocumentRemoval): Promise<DocumentRemovalResult> {
    assertDocumentRemoval(removal)
    return this.#write(encodeRemoveDocument(removal), 1, decodeRemoveDocument, undefined)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#room.stop()
    await this.#queue.waitUntilIdle()
    // The writer closes last, because the last connection moves the log into the database.
    await this.#reader.close()
    await this.#link.close()
  }

  counters(): SqliteCounters {
    return { commits: this.#queue.commits, rows: this.#queue.rowsCommitted }
  }

  async #write<Context, Result>(
    write: Write,
    rows: number,
    decode: Decode<Context, Result>,
    context: Context,
  ): Promise<Result> {
    if (this.#closing !== undefined) return this.#refuse()
    return this.#queue.write(write, { rows, bytes: 0 }, decode, context)
  }

  #refuse(): Promise<never> {
    return Promise.reject(
      this.#link.broken ?? new StoreUnavailableError('the store is closed', { applied: 'no' }),
    )
  }
}
