import {
  assert,
  CLAIM_MAX,
  type CreateResult,
  type DueClaim,
  type DueClaimResult,
  type DurabilityClass,
  type Lease,
  type ListQuery,
  type ListResult,
  type NewTransaction,
  PURGE_MAX,
  READ_MANY_MAX,
  RENEW_MAX,
  type RenewResult,
  type SingleClaim,
  type SingleClaimResult,
  type Store,
  type StoredTransaction,
  type StoreStats,
  StoreUnavailableError,
  type TransactionUpdate,
  type UpdateResult,
} from '@counterstep/core'
import { type Gid, isFinalStatus } from '@counterstep/protocol'
import { decodeStats } from './decode-stats.ts'
import {
  decodeClaim,
  decodeClaimDue,
  decodeCreate,
  decodePurge,
  decodeRenew,
  decodeUpdate,
} from './decode-writes.ts'
import {
  bytesOf,
  pushClaim,
  pushClaimDue,
  pushCreate,
  pushPurge,
  pushRenew,
  pushUpdate,
} from './encode-writes.ts'
import { decodePage, listParameters } from './list-page.ts'
import { storedTransaction } from './stored-row.ts'
import type { WorkerLink } from './worker-link.ts'
import type { Decode, Fill, WriteQueue } from './write-queue.ts'

export interface SqliteCounters {
  /** Batches committed, each with one flush of the disk. */
  readonly commits: number
  readonly rows: number
}

/** The contract over the worker: every method puts a call into the queue or asks a read, and decodes the answer. */
export class SqliteStore implements Store {
  readonly name = 'sqlite'
  readonly durabilityClass: DurabilityClass
  readonly failover = 'none'
  readonly capabilities = { durable: true, shared: false }
  readonly #link: WorkerLink
  readonly #queue: WriteQueue
  readonly #now: () => number
  #closing: Promise<void> | undefined

  constructor(link: WorkerLink, queue: WriteQueue, now: () => number) {
    this.durabilityClass = link.durabilityClass
    this.#link = link
    this.#queue = queue
    this.#now = now
  }

  create(transaction: NewTransaction): Promise<CreateResult> {
    if (this.#closing !== undefined) return this.#refused()
    const bytes = bytesOf(transaction.definition) + bytesOf(transaction.progress)
    return this.#queue.write({ rows: 1, bytes }, pushCreate, decodeCreate, transaction)
  }

  update(update: TransactionUpdate): Promise<UpdateResult> {
    if (this.#closing !== undefined) return this.#refused()
    if (isFinalStatus(update.status) !== (update.hold.type === 'finish')) {
      return rejectBug('update: a final status and "finish" go together')
    }
    return this.#queue.write({ rows: 1, bytes: bytesOf(update.progress) }, pushUpdate, decodeUpdate, update)
  }

  async renew(leases: readonly Lease[], leaseMs: number): Promise<RenewResult> {
    assert(leases.length <= RENEW_MAX, 'renew: too many leases')
    return this.#write(leases.length, pushRenew, decodeRenew, { leases, leaseMs })
  }

  async claimDue(claim: DueClaim): Promise<DueClaimResult> {
    const { limit, tokens } = claim
    assert(limit <= CLAIM_MAX && tokens.length >= limit, 'claimDue: limit over CLAIM_MAX, or too few tokens')
    return this.#write(limit, pushClaimDue, decodeClaimDue, claim)
  }

  async claim(claim: SingleClaim): Promise<SingleClaimResult> {
    return this.#write(1, pushClaim, decodeClaim, claim)
  }

  async purgeFinished(limit: number): Promise<{ readonly purged: number }> {
    assert(limit <= PURGE_MAX, 'purgeFinished: limit over PURGE_MAX')
    return this.#write(limit, pushPurge, decodePurge, limit)
  }

  async readMany(gids: readonly Gid[]): Promise<readonly StoredTransaction[]> {
    assert(gids.length <= READ_MANY_MAX, 'readMany: too many gids')
    if (this.#closing !== undefined) return this.#refused()
    const rows = await this.#link.read({ type: 'readMany', gids: [...new Set(gids)] })
    return rows.map(storedTransaction)
  }

  async list(query: ListQuery): Promise<ListResult> {
    if (this.#closing !== undefined) return this.#refused()
    return decodePage(await this.#link.read({ type: 'list', parameters: listParameters(query) }), query.limit)
  }

  async stats(): Promise<StoreStats> {
    if (this.#closing !== undefined) return this.#refused()
    const now = this.#now()
    return decodeStats(await this.#link.read({ type: 'stats' }), now)
  }

  close(): Promise<void> {
    this.#closing ??= this.#queue.drained().then(() => this.#link.close())
    return this.#closing
  }

  counters(): SqliteCounters {
    return { commits: this.#queue.commits, rows: this.#queue.rowsCommitted }
  }

  async #write<Subject, Result>(
    rows: number,
    fill: Fill<Subject>,
    decode: Decode<Subject, Result>,
    subject: Subject,
  ): Promise<Result> {
    if (this.#closing !== undefined) return this.#refused()
    return this.#queue.write({ rows, bytes: 0 }, fill, decode, subject)
  }

  #refused(): Promise<never> {
    return Promise.reject(
      this.#link.broken ?? new StoreUnavailableError('the store is closed', { applied: 'no' }),
    )
  }
}

async function rejectBug(message: string): Promise<never> {
  assert(false, message)
  throw new Error(message)
}
