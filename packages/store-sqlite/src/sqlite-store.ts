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
  bytesOf,
  claimDueWrite,
  claimWrite,
  createWrite,
  postponeDueWrite,
  removeDocumentWrite,
  renewWrite,
  updateWrite,
  writeDocumentWrite,
} from './encode-writes.ts'
import { decodePage, listParameters } from './list-page.ts'
import type { Write } from './messages.ts'
import { readDocuments } from './read-documents.ts'
import type { ReaderLink } from './reader-link.ts'
import type { RoomMark } from './room-mark.ts'
import { storedTransaction } from './stored-row.ts'
import type { WorkerLink } from './worker-link.ts'
import type { Decode, WriteQueue } from './write-queue.ts'

export interface SqliteCounters {
  /** Batches committed, each with one flush of the disk. */
  readonly commits: number
  readonly rows: number
}

export interface SqliteStoreParts {
  readonly reader: ReaderLink
  readonly queue: WriteQueue
  readonly now: () => number
  readonly room: RoomMark
}

/** The contract over the two threads: every method puts a call into the writer's queue or asks the reader, and decodes the answer. */
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
    if (this.#closing !== undefined) return this.#refused()
    const bytes = bytesOf(transaction.definition) + bytesOf(transaction.progress)
    return this.#queue.write(createWrite(transaction), { rows: 1, bytes }, decodeCreate, undefined)
  }

  async update(update: TransactionUpdate): Promise<UpdateResult> {
    if (this.#closing !== undefined) return this.#refused()
    assertUpdate(update)
    const size = { rows: 1, bytes: bytesOf(update.progress) }
    return this.#queue.write(updateWrite(update), size, decodeUpdate, update.version)
  }

  async renew(leases: readonly Lease[], leaseMs: number): Promise<RenewResult> {
    assertRenew(leases)
    return this.#write(renewWrite(leases, leaseMs), leases.length, decodeRenew, leases)
  }

  async claimDue(claim: DueClaim): Promise<DueClaimResult> {
    assertDueClaim(claim)
    return this.#write(claimDueWrite(claim), claim.limit, decodeClaimDue, undefined)
  }

  async claim(claim: SingleClaim): Promise<SingleClaimResult> {
    return this.#write(claimWrite(claim), 1, decodeClaim, undefined)
  }

  async postponeDue(postponement: DuePostponement): Promise<DuePostponementResult> {
    assertDuePostponement(postponement)
    return this.#write(postponeDueWrite(postponement), postponement.limit, decodePostponeDue, undefined)
  }

  async purgeFinished(limit: number): Promise<{ readonly purged: number }> {
    assertPurge(limit)
    return this.#write(['purge', limit], limit, decodePurge, undefined)
  }

  /** A later version's row does not spoil the others: it is left out, and is a bug only for who asks for it alone. */
  async readMany(gids: readonly Gid[]): Promise<readonly StoredTransaction[]> {
    assertReadMany(gids)
    if (this.#closing !== undefined) return this.#refused()
    const rows = await this.#reader.read({ type: 'readMany', gids: [...new Set(gids)] })
    const transactions = rows.flatMap((row) => storedTransaction(row) ?? [])
    if (gids.length === 1 && transactions.length < rows.length)
      throw new AssertionError(`${gids[0]} has codes of a later version`)
    return transactions
  }

  async list(query: ListQuery): Promise<ListResult> {
    if (this.#closing !== undefined) return this.#refused()
    return decodePage(
      await this.#reader.read({ type: 'list', parameters: listParameters(query) }),
      query.limit,
    )
  }

  async stats(): Promise<StoreStats> {
    if (this.#closing !== undefined) return this.#refused()
    const now = this.#now()
    return decodeStats(await this.#reader.read({ type: 'stats' }), now)
  }

  async readDocuments(category: string): Promise<readonly StoredDocument[]> {
    assertDocumentCategory(category)
    if (this.#closing !== undefined) return this.#refused()
    return readDocuments(this.#reader, category)
  }

  async writeDocument(write: DocumentWrite): Promise<DocumentWriteResult> {
    assertDocumentWrite(write)
    if (this.#closing !== undefined) return this.#refused()
    const size = { rows: 1, bytes: bytesOf(write.text) }
    return this.#queue.write(writeDocumentWrite(write), size, decodeWriteDocument, undefined)
  }

  async removeDocument(removal: DocumentRemoval): Promise<DocumentRemovalResult> {
    assertDocumentRemoval(removal)
    return this.#write(removeDocumentWrite(removal), 1, decodeRemoveDocument, undefined)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#room.stop()
    await this.#queue.drained()
    // The writer is the last to leave, since the last one moves the log into the database.
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
    if (this.#closing !== undefined) return this.#refused()
    return this.#queue.write(write, { rows, bytes: 0 }, decode, context)
  }

  #refused(): Promise<never> {
    return Promise.reject(
      this.#link.broken ?? new StoreUnavailableError('the store is closed', { applied: 'no' }),
    )
  }
}
