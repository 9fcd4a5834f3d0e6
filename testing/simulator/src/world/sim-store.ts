/**
 * The rows and rules of the store. Every verb is one atomic step at the instant at which its request arrives. `store-link.ts`
 * plays the way there and back.
 */
import {
  type CreateResult,
  type DueClaim,
  type DueClaimResult,
  decodeTransaction,
  type Lease,
  NEVER_AT,
  type NewTransaction,
  type RenewResult,
  type StoredTransaction,
  type TransactionUpdate,
  type UpdateResult,
} from '@counterstep/core'
import { type Gid, isFinalStatus } from '@counterstep/protocol'
import { countStrong } from './count-strong.ts'
import { readRecord } from './read-record.ts'
import type { World } from './world.ts'

interface SimRow {
  stored: StoredTransaction
  /**
   * The row before its first lazy save since the last strong write. It goes
   * back to this when the store loses its last writes.
   */
  beforeLazy: StoredTransaction | undefined
  /** When the row was last saved, by the world's time. */
  savedAt: number
  /** The highest version that it ever had, lost or not. */
  versionMax: number
}

/** Checks each change of a row at the instant at which it is made. */
interface StoreAudit {
  checkCreate(row: StoredTransaction): void
  checkUpdate(before: StoredTransaction, update: TransactionUpdate, row: StoredTransaction): void
  checkClaim(row: StoredTransaction): void
  noteTailLoss(row: StoredTransaction): void
}

export class SimStore {
  readonly #world: World
  readonly #audit: StoreAudit
  readonly #rows = new Map<Gid, SimRow>()
  readonly #losesTail: boolean

  constructor(world: World, audit: StoreAudit) {
    this.#world = world
    this.#audit = audit
    this.#losesTail = world.faults.loseTail > 0
  }

  create(transaction: NewTransaction): CreateResult {
    const now = this.#world.storeNow
    const row = this.#rows.get(transaction.gid)
    if (row !== undefined) {
      const { stored } = row
      if (stored.token === transaction.token && stored.writeId === transaction.writeId) {
        this.#world.counters.repeatedWrites++
        return { type: 'created', createdAt: stored.createdAt, now }
      }
      return { type: 'exists', digest: stored.digest, status: stored.status, now }
    }
    const { hold, ...rest } = transaction
    const stored: StoredTransaction = {
      ...rest,
      version: 1,
      epoch: 1,
      owned: hold.type === 'owned',
      claimsWithoutProgress: 0,
      retrying: false,
      attention: false,
      createdAt: now,
      updatedAt: now,
      dueAt: now + (hold.type === 'owned' ? hold.leaseMs : hold.dueInMs),
    }
    this.#rows.set(stored.gid, { stored, beforeLazy: undefined, savedAt: this.#world.now, versionMax: 1 })
    this.#audit.checkCreate(stored)
    return { type: 'created', createdAt: now, now }
  }

  read(gid: Gid): StoredTransaction | undefined {
    return this.#rows.get(gid)?.stored
  }

  update(update: TransactionUpdate): UpdateResult {
    const { counters, storeNow: now, wiring } = this.#world
    const row = this.#rows.get(update.gid)
    if (row === undefined) return { type: 'absent' }
    const before = row.stored
    const isChecked = wiring.flaw !== 'token-ignored'
    const isVersionChecked = wiring.flaw !== 'finish-unchecked' || update.hold.type !== 'finish'
    if (isChecked) {
      if (before.token !== update.token) {
        counters.fencedWrites++
        return this.#refused({ type: 'fenced' }, before)
      }
      if (before.writeId === update.writeId) {
        counters.repeatedWrites++
        return { type: 'saved', version: before.version, now }
      }
      const isOver = isFinalStatus(before.status) && wiring.flaw !== 'second-result-wins'
      if (isVersionChecked && (before.version !== update.version || isOver)) {
        counters.conflicts++
        return this.#refused({ type: 'conflict', version: before.version }, before)
      }
    }
    row.savedAt = this.#world.now
    row.beforeLazy = this.#losesTail && isLazy(before, update) ? (row.beforeLazy ?? before) : undefined
    const trouble = wiring.flaw === 'trouble-kept' ? { ...before, ...update } : update
    row.stored = {
      ...updatedRow(before, update, now),
      ...readTrouble(trouble),
      version: this.#nextVersion(row),
    }
    this.#audit.checkUpdate(before, update, row.stored)
    return { type: 'saved', version: row.stored.version, now }
  }

  #refused(refusal: UpdateResult, { version }: StoredTransaction): UpdateResult {
    if (this.#world.wiring.flaw !== 'says-saved') return refusal
    return { type: 'saved', version, now: this.#world.storeNow }
  }

  renew(leases: readonly Lease[], leaseMs: number): RenewResult {
    const now = this.#world.storeNow
    const renewed: { gid: Gid; version: number }[] = []
    const lost: Gid[] = []
    for (const { gid, token } of leases) {
      const row = this.#rows.get(gid)
      if (row !== undefined && row.stored.token === token && row.stored.owned) {
        row.stored = { ...row.stored, dueAt: now + leaseMs }
        renewed.push({ gid, version: row.stored.version })
      } else {
        lost.push(gid)
      }
    }
    return { now, renewed, lost }
  }

  /** Claims due rows. `dueBy` is the store's own time, except for a mutant that brings its own. */
  claimDue({ limit, leaseMs, tokens }: DueClaim, dueBy = this.#world.storeNow): DueClaimResult {
    const now = this.#world.storeNow
    const { flaw } = this.#world.wiring
    const due: SimRow[] = []
    for (const row of this.#rows.values()) {
      if (!isFinalStatus(row.stored.status) && row.stored.dueAt <= dueBy) due.push(row)
    }
    due.sort((a, b) => a.stored.dueAt - b.stored.dueAt)
    const claimed = due.slice(0, limit).map((row, index) => {
      const before = row.stored
      row.beforeLazy = undefined
      row.savedAt = this.#world.now
      row.stored = {
        ...before,
        token: flaw === 'token-reused' ? before.token : (tokens[index] ?? ''),
        owned: true,
        dueAt: now + leaseMs,
        version: this.#nextVersion(row),
        epoch: before.epoch + 1,
        claimsWithoutProgress: before.claimsWithoutProgress + 1,
        sentList: flaw === 'sent-list-trusted' || before.sentList === 'released' ? 'held' : 'unknown',
      }
      this.#audit.checkClaim(row.stored)
      return row.stored
    })
    return { now, claimed }
  }

  /**
   * Plays a power loss. All lazy saves since the last strong write of a row may be
   * lost together. It returns the gids of the affected rows.
   */
  loseTail(): Gid[] {
    const lost: Gid[] = []
    for (const row of this.#rows.values()) {
      const { beforeLazy, stored } = row
      if (beforeLazy === undefined || row.savedAt === this.#world.now) continue
      if (!this.#world.random.chance(0.9)) continue
      row.stored = { ...beforeLazy, dueAt: stored.dueAt, owned: stored.owned }
      row.beforeLazy = undefined
      this.#world.counters.lostLazySaves++
      this.#audit.noteTailLoss(row.stored)
      lost.push(row.stored.gid)
    }
    return lost
  }

  /**
   * Returns a version that was never issued before. Else an owner that lives on would overwrite a command that was given in
   * between. The mutants count on from the remaining version, or take the clock, which may have been set back.
   */
  #nextVersion(row: SimRow): number {
    const { storeNow, wiring } = this.#world
    const next = row.stored.version + 1
    if (!this.#losesTail || wiring.flaw === 'version-reissued') return next
    if (wiring.flaw === 'version-by-clock') return Math.max(next, storeNow)
    row.versionMax = Math.max(row.versionMax + 1, next)
    return row.versionMax
  }

  rows(): StoredTransaction[] {
    return [...this.#rows.values()].map((row) => row.stored)
  }
}

function updatedRow(row: StoredTransaction, update: TransactionUpdate, now: number): StoredTransaction {
  const { problem: _problem, attempts: _attempts, marks: _marks, ...kept } = row
  return {
    ...kept,
    writeId: update.writeId,
    status: update.status,
    format: update.format,
    progress: update.progress,
    retrying: update.retrying,
    attention: update.attention,
    sentList: update.sentList ?? row.sentList,
    claimsWithoutProgress: 0,
    updatedAt: now,
    ...applyHold(row, update, now),
  }
}

/** Takes the trouble of an update, which is over where the update has none. */
function readTrouble({
  problem,
  attempts,
  marks,
}: Pick<StoredTransaction, 'problem' | 'attempts' | 'marks'>): Partial<StoredTransaction> {
  return {
    ...(problem === undefined ? {} : { problem }),
    ...(attempts === undefined ? {} : { attempts }),
    ...(marks === undefined ? {} : { marks }),
  }
}

function applyHold(row: StoredTransaction, { hold }: TransactionUpdate, now: number) {
  switch (hold.type) {
    case 'keep':
      return { owned: row.owned, dueAt: row.dueAt }
    case 'release':
      return { owned: false, dueAt: hold.dueAt }
    case 'finish':
      return { owned: false, dueAt: hold.retentionMs === 'never' ? NEVER_AT : now + hold.retentionMs }
    case 'command':
      return row.owned ? { owned: true, dueAt: row.dueAt } : { owned: false, dueAt: hold.dueAt ?? now }
  }
}

/**
 * Whether an update is a lazy save: progress without a decision, a command, a new wait for a retry or anything else that only
 * a strong save records, and not in strict mode. The core does not mark its saves, so this is derived from the content. A doubtful save counts as strong.
 */
function isLazy(before: StoredTransaction, update: TransactionUpdate): boolean {
  if (update.hold.type !== 'keep' || update.status !== before.status || before.status === 'prepared')
    return false
  if (update.retrying || update.attention !== before.attention) return false
  const stored = readRecord(before)
  if (stored.definition.checkpointMs === 0) return false
  const next = decodeTransaction({ ...before, progress: update.progress, status: update.status })
  return next.manualRetries === stored.manualRetries && countStrong(next) === countStrong(stored)
}
