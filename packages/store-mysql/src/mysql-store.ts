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
import { type QueueBounds, WriteQueue } from '@counterstep/store-sql'
import { findFinal } from './reads/find-final.ts'
import { listPage } from './reads/list-page.ts'
import { readDocuments } from './reads/read-documents.ts'
import { readMany } from './reads/read-many.ts'
import { readStats } from './reads/read-stats.ts'
import type { StoreSessions } from './sessions/store-sessions.ts'
import type { Counters, DatabaseTransactions } from './transactions/database-transactions.ts'
import { ensureOwnRedo } from './transactions/own-redo.ts'
import { claimDue, claimOne } from './writes/claims.ts'
import { type PendingWrite, toPendingCreate, toPendingUpdate } from './writes/pending-writes.ts'
import { postponeDue } from './writes/postpone-due.ts'
import { purgeFinished } from './writes/purge-finished.ts'
import { renewLeases } from './writes/renew-leases.ts'
import { writeBatch } from './writes/write-batch.ts'
import { removeDocument, writeDocument } from './writes/write-document.ts'

export interface MysqlStoreParts {
  readonly sessions: StoreSessions
  readonly transactions: DatabaseTransactions
  readonly bounds: QueueBounds
  readonly durabilityClass: DurabilityClass
  readonly failover: Store['failover']
}

/** The store over MySQL. Creates and updates go through the queue, everything else is a database transaction or a read of its own. */
export class MysqlStore implements Store {
  readonly name = 'mysql'
  readonly durabilityClass: DurabilityClass
  readonly failover: Store['failover']
  readonly capabilities = { durable: true, shared: true }
  readonly #sessions: StoreSessions
  readonly #transactions: DatabaseTransactions
  readonly #queue: WriteQueue<PendingWrite>
  #closing: Promise<void> | undefined

  constructor({ sessions, transactions, bounds, durabilityClass, failover }: MysqlStoreParts) {
    this.durabilityClass = durabilityClass
    this.failover = failover
    this.#sessions = sessions
    this.#transactions = transactions
    this.#queue = new WriteQueue((writes) => writeBatch(transactions, writes), bounds)
  }

  async create(transaction: NewTransaction): Promise<CreateResult> {
    this.#refuseClosed()
    return new Promise((resolve, reject) => {
      this.#queue.add(toPendingCreate(transaction, resolve, reject))
    })
  }

  async update(update: TransactionUpdate): Promise<UpdateResult> {
    this.#refuseClosed()
    assertUpdate(update)
    return new Promise((resolve, reject) => {
      this.#queue.add(toPendingUpdate(update, resolve, reject))
    })
  }

  async renew(leases: readonly Lease[], leaseMs: number): Promise<RenewResult> {
    this.#refuseClosed()
    assertRenew(leases)
    return renewLeases(this.#transactions, leases, leaseMs)
  }

  async claimDue(claim: DueClaim): Promise<DueClaimResult> {
    this.#refuseClosed()
    assertDueClaim(claim)
    return this.#transactions.run((tx) => claimDue(tx, claim))
  }

  async claim(claim: SingleClaim): Promise<SingleClaimResult> {
    this.#refuseClosed()
    return this.#transactions.run((tx) => claimOne(tx, claim))
  }

  async postponeDue(postponement: DuePostponement): Promise<DuePostponementResult> {
    this.#refuseClosed()
    assertDuePostponement(postponement)
    return this.#transactions.run((tx) => postponeDue(tx, postponement))
  }

  async findFinal(gids: readonly Gid[]): Promise<readonly Gid[]> {
    this.#refuseClosed()
    assertReadMany(gids)
    return this.#sessions.read((session) => findFinal(session, gids))
  }

  async readMany(gids: readonly Gid[]): Promise<readonly StoredTransaction[]> {
    this.#refuseClosed()
    assertReadMany(gids)
    return this.#sessions.read((session) => readMany(session, gids))
  }

  async settle(): Promise<void> {
    this.#refuseClosed()
    // A server with a binary log shows a row once that is on the disk. A replica that each COMMIT waits for may have it later.
    if (this.#sessions.server.get('log_bin') === 'ON' && this.failover !== 'lossless') return
    await this.#transactions.run(async (tx) => {
      await ensureOwnRedo(tx)
      return { value: undefined, rows: 0 }
    })
  }

  async list(query: ListQuery): Promise<ListResult> {
    this.#refuseClosed()
    return this.#sessions.read((session) => listPage(session, query))
  }

  async stats(): Promise<StoreStats> {
    this.#refuseClosed()
    return this.#sessions.read(readStats)
  }

  async purgeFinished(limit: number): Promise<{ readonly purged: number }> {
    this.#refuseClosed()
    assertPurge(limit)
    return this.#transactions.run((tx) => purgeFinished(tx, limit))
  }

  async readDocuments(category: string): Promise<readonly StoredDocument[]> {
    this.#refuseClosed()
    assertDocumentCategory(category)
    return this.#sessions.read((session) => readDocuments(session, category))
  }

  async writeDocument(write: DocumentWrite): Promise<DocumentWriteResult> {
    this.#refuseClosed()
    assertDocumentWrite(write)
    return this.#transactions.run((tx) => writeDocument(tx, write))
  }

  async removeDocument(removal: DocumentRemoval): Promise<DocumentRemovalResult> {
    this.#refuseClosed()
    assertDocumentRemoval(removal)
    return this.#transactions.run((tx) => removeDocument(tx, removal))
  }

  close(): Promise<void> {
    this.#closing ??= this.#queue.waitUntilIdle().then(() => this.#sessions.close())
    return this.#closing
  }

  counters(): Readonly<Counters> {
    return { ...this.#transactions.counters }
  }

  #refuseClosed(): void {
    if (this.#closing !== undefined) throw new StoreUnavailableError('the store is closed', { applied: 'no' })
  }
}
