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
import { type Gid, isFinalStatus } from '@counterstep/protocol'
import { DueClaims } from './due/due-claims.ts'
import { DuePostponements } from './due/due-postponements.ts'
import { listPage } from './reads/list-page.ts'
import { readHeads } from './reads/read-heads.ts'
import { readRows } from './reads/read-rows.ts'
import { readStats } from './reads/read-stats.ts'
import { collectAnswers, groupByShard } from './shards/by-shard.ts'
import { decodeClaim, decodeCreate, decodeRenew, decodeUpdate } from './shards/decode-answers.ts'
import { claimCall, createRow, renewCall, updateRow } from './shards/encode-calls.ts'
import type { ShardCalls } from './shards/shard-calls.ts'
import type { RedisCounters, StoreHealth } from './tail/store-health.ts'
import { Documents } from './writes/documents.ts'
import { PurgeWalk } from './writes/purge-walk.ts'
import type { RowWrites } from './writes/row-writes.ts'

/**
 * This is the store over the scripts. Every method picks the shards, calls one script in each and decodes the
 * answers.
 */
export class RedisStore implements Store {
  readonly name = 'redis'
  readonly durabilityClass: DurabilityClass
  readonly failover: Store['failover']
  readonly capabilities = { durable: true, shared: true }
  readonly #calls: ShardCalls
  readonly #health: StoreHealth
  readonly #rows: RowWrites
  readonly #dueClaims: DueClaims
  readonly #duePostponements: DuePostponements
  readonly #purgeWalk: PurgeWalk
  readonly #documents: Documents
  #operations = 0
  #onSettled: (() => void) | undefined
  #closing: Promise<void> | undefined

  constructor(
    calls: ShardCalls,
    rows: RowWrites,
    health: StoreHealth,
    guarantee: { readonly durabilityClass: DurabilityClass; readonly failover: Store['failover'] },
  ) {
    this.#calls = calls
    this.#health = health
    this.#rows = rows
    this.#dueClaims = new DueClaims(calls)
    this.#duePostponements = new DuePostponements(calls)
    this.#purgeWalk = new PurgeWalk(calls)
    this.#documents = new Documents(calls, health.tail)
    this.durabilityClass = guarantee.durabilityClass
    this.failover = guarantee.failover
  }

  create(transaction: NewTransaction): Promise<CreateResult> {
    return this.#run(() => {
      const { gid } = transaction
      const shard = this.#calls.shards.toShard(gid)
      return this.#rows.write(shard, createRow(this.#calls.keys(shard), transaction), (line) => {
        const result = decodeCreate(gid, line)
        if (result.type === 'created') this.#health.tail.noteAcknowledged(shard, gid, 1)
        return result
      })
    })
  }

  update(update: TransactionUpdate): Promise<UpdateResult> {
    return this.#run(() => {
      assertUpdate(update)
      const shard = this.#calls.shards.toShard(update.gid)
      const sentAt = Date.now()
      return this.#rows.write(shard, updateRow(this.#calls.keys(shard), update), (line) => {
        const result = decodeUpdate(line)
        if (result.type === 'saved') this.#noteSaved(shard, update, result, sentAt)
        return result
      })
    })
  }

  claim(claim: SingleClaim): Promise<SingleClaimResult> {
    return this.#run(async () => {
      const { gid } = claim
      const shard = this.#calls.shards.toShard(gid)
      const call = claimCall(this.#calls.keys(shard), claim)
      const result = decodeClaim(gid, await this.#calls.script(shard, 'claim', call))
      if (result.type === 'claimed')
        this.#health.tail.noteAcknowledged(shard, gid, result.transaction.version)
      return result
    })
  }

  claimDue(claim: DueClaim): Promise<DueClaimResult> {
    return this.#run(async () => {
      assertDueClaim(claim)
      this.#health.tail.checkMarks()
      const result = await this.#dueClaims.claim(claim)
      for (const { gid, version } of result.claimed) {
        this.#health.tail.noteAcknowledged(this.#calls.shards.toShard(gid), gid, version)
      }
      return result
    })
  }

  postponeDue(postponement: DuePostponement): Promise<DuePostponementResult> {
    return this.#run(async () => {
      assertDuePostponement(postponement)
      this.#health.tail.checkMarks()
      return this.#duePostponements.postpone(postponement)
    })
  }

  renew(leases: readonly Lease[], leaseMs: number): Promise<RenewResult> {
    return this.#run(async () => {
      assertRenew(leases)
      if (leases.length === 0) return { now: await this.#calls.time(0), renewed: [], lost: [] }
      // The leases of a shard that does not answer are neither renewed nor lost.
      const answers = await collectAnswers(
        groupByShard(this.#calls.shards, leases, ({ gid }) => gid).map(async ([shard, mine]) => {
          const call = renewCall(this.#calls.keys(shard), mine, leaseMs)
          return decodeRenew(mine, await this.#calls.script(shard, 'renew', call))
        }),
      )
      const versions = answers.flatMap((answer) => answer.versions)
      return {
        now: Math.min(...answers.map(({ now }) => now)),
        renewed: versions.flatMap(([gid, version]) => (version === undefined ? [] : [{ gid, version }])),
        lost: versions.flatMap(([gid, version]) => (version === undefined ? [gid] : [])),
      }
    })
  }

  readMany(gids: readonly Gid[]): Promise<readonly StoredTransaction[]> {
    return this.#run(async () => {
      assertReadMany(gids)
      return readRows(this.#calls, [...new Set(gids)])
    })
  }

  findFinal(gids: readonly Gid[]): Promise<readonly Gid[]> {
    return this.#run(async () => {
      assertReadMany(gids)
      const heads = await readHeads(
        this.#calls,
        [...new Set(gids)].map((gid) => ({ gid })),
      )
      return [...heads].flatMap(([gid, { status }]) => (isFinalStatus(status) ? [gid] : []))
    })
  }

  list(query: ListQuery): Promise<ListResult> {
    return this.#run(() => listPage(this.#calls, query))
  }

  stats(): Promise<StoreStats> {
    return this.#run(() => readStats(this.#calls))
  }

  purgeFinished(limit: number): Promise<{ readonly purged: number }> {
    return this.#run(async () => {
      assertPurge(limit)
      return { purged: await this.#purgeWalk.purge(limit) }
    })
  }

  readDocuments(category: string): Promise<readonly StoredDocument[]> {
    return this.#run(async () => {
      assertDocumentCategory(category)
      return this.#documents.read(category)
    })
  }

  writeDocument(write: DocumentWrite): Promise<DocumentWriteResult> {
    return this.#run(async () => {
      assertDocumentWrite(write)
      return this.#documents.write(write)
    })
  }

  removeDocument(removal: DocumentRemoval): Promise<DocumentRemovalResult> {
    return this.#run(async () => {
      assertDocumentRemoval(removal)
      return this.#documents.remove(removal)
    })
  }

  close(): Promise<void> {
    this.#closing ??= this.#waitUntilSettled().then(() => this.#calls.servers.close())
    return this.#closing
  }

  counters(): RedisCounters {
    return this.#health.counters()
  }

  #noteSaved(
    shard: number,
    { gid, hold }: TransactionUpdate,
    { version, now }: UpdateResult & { readonly type: 'saved' },
    sentAt: number,
  ): void {
    const isPurged = hold.type === 'finish' && hold.retentionMs !== 'never'
    // The save happened after the sending. A repeated save happened first at its version, which is a timestamp.
    const savedFrom = sentAt - Math.max(0, now - version)
    const goneFrom = isPurged ? savedFrom + Number(hold.retentionMs) : undefined
    this.#health.tail.noteAcknowledged(shard, gid, version, goneFrom)
  }

  /** Every command has a timeout, so this ends. */
  #waitUntilSettled(): Promise<void> {
    if (this.#operations === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onSettled = resolve
    })
  }

  /** It is not async, because each promise counts in the cost of a saga's writes. */
  #run<Result>(operation: () => Promise<Result>): Promise<Result> {
    if (this.#closing !== undefined) {
      return Promise.reject(new StoreUnavailableError('the store is closed', { applied: 'no' }))
    }
    this.#operations += 1
    return begin(operation).then(this.#onEnded, this.#onFailed)
  }

  readonly #onEnded = <Result>(result: Result): Result => {
    this.#operations -= 1
    if (this.#operations === 0) this.#onSettled?.()
    return result
  }

  readonly #onFailed = (error: unknown): never => {
    this.#onEnded(undefined)
    if (error instanceof StoreUnavailableError || error instanceof AssertionError) throw error
    throw new AssertionError(`the Redis store: ${String(error)}`)
  }
}

function begin<Result>(operation: () => Promise<Result>): Promise<Result> {
  try {
    return operation()
  } catch (error: unknown) {
    return Promise.reject(error)
  }
}
