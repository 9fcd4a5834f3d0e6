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
import { listPage } from './reads/list-page.ts'
import { findFinal, readDocuments, readMany, readStats } from './reads/read-rows.ts'
import type { CommandListener } from './sessions/command-listener.ts'
import type { StoreSessions } from './sessions/store-sessions.ts'
import { claimDue, claimOne } from './writes/claims.ts'
import { type PendingWrite, toPendingCreate, toPendingUpdate } from './writes/pending-writes.ts'
import { postponeDue } from './writes/postpone-due.ts'
import { purgeFinished } from './writes/purge-finished.ts'
import { renewLeases } from './writes/renew-leases.ts'
import type { Counters, WritingStatements } from './writes/statements.ts'
import { writeBatch } from './writes/write-batch.ts'
import { removeDocument, writeDocument } from './writes/write-document.ts'

export interface PostgresStoreParts {
  readonly sessions: StoreSessions
  readonly statements: WritingStatements
  /** Absent behind a pooler, whose connections cannot listen. */
  readonly listener?: CommandListener
  readonly bounds: QueueBounds
  readonly durabilityClass: DurabilityClass
  readonly failover: Store['failover']
}

/**
 * Where no standby is waited for, a row is shown once it is on the disk, and nothing is written here.
 * A COMMIT waits for the disk and for the standby if its transaction has written to the log. A row of an earlier COMMIT whose own
 * wait has ended, by a crash or by a cancel, lies before it there. No subscriber of logical replication gets the message
 * unless it asks for messages.
 */
const SETTLE =
  "SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' THEN pg_logical_emit_message(true, 'counterstep', '') END"

/** The store over PostgreSQL. Creates and updates go through the queue, everything else is a statement of its own. */
export class PostgresStore implements Store {
  readonly name = 'postgres'
  readonly durabilityClass: DurabilityClass
  readonly failover: Store['failover']
  readonly capabilities = { durable: true, shared: true }
  readonly #sessions: StoreSessions
  readonly #statements: WritingStatements
  readonly #queue: WriteQueue<PendingWrite>
  readonly #listener: CommandListener | undefined
  #closing: Promise<void> | undefined

  constructor({ sessions, statements, bounds, durabilityClass, failover, listener }: PostgresStoreParts) {
    this.durabilityClass = durabilityClass
    this.failover = failover
    this.#sessions = sessions
    this.#listener = listener
    this.#statements = statements
    this.#queue = new WriteQueue((writes) => writeBatch(statements, writes), bounds)
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
    return renewLeases(this.#statements, leases, leaseMs)
  }

  async claimDue(claim: DueClaim): Promise<DueClaimResult> {
    this.#refuseClosed()
    assertDueClaim(claim)
    return claimDue(this.#statements, claim)
  }

  async claim(claim: SingleClaim): Promise<SingleClaimResult> {
    this.#refuseClosed()
    return claimOne(this.#statements, claim)
  }

  async postponeDue(postponement: DuePostponement): Promise<DuePostponementResult> {
    this.#refuseClosed()
    assertDuePostponement(postponement)
    return postponeDue(this.#statements, postponement)
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
    await this.#statements.run({ sql: SETTLE, values: [] }, 0)
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
    return purgeFinished(this.#statements, limit)
  }

  async readDocuments(category: string): Promise<readonly StoredDocument[]> {
    this.#refuseClosed()
    assertDocumentCategory(category)
    return this.#sessions.read((session) => readDocuments(session, category))
  }

  async writeDocument(write: DocumentWrite): Promise<DocumentWriteResult> {
    this.#refuseClosed()
    assertDocumentWrite(write)
    return this.#statements.runTogether((session) => writeDocument(session, write))
  }

  async removeDocument(removal: DocumentRemoval): Promise<DocumentRemovalResult> {
    this.#refuseClosed()
    assertDocumentRemoval(removal)
    return this.#statements.runTogether((session) => removeDocument(session, removal))
  }

  get tellsCommands(): boolean {
    return this.#listener?.isHearing === true
  }

  onCommand(listener: (gid: Gid) => void): void {
    this.#refuseClosed()
    this.#listener?.add(listener)
  }

  close(): Promise<void> {
    this.#listener?.close()
    this.#closing ??= this.#queue.waitUntilIdle().then(() => this.#sessions.close())
    return this.#closing
  }

  counters(): Readonly<Counters> {
    return { ...this.#statements.counters }
  }

  #refuseClosed(): void {
    if (this.#closing !== undefined) throw new StoreUnavailableError('the store is closed', { applied: 'no' })
  }
}
