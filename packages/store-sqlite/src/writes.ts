import type { Database, Row, Statement } from './driver.ts'
import { STATEMENTS } from './generated/sql.ts'
import { HOLD, type WorkerSettings, WRITE, type WriteResult } from './messages.ts'

// What `encode-writes.ts` pushes, in the order of the statements' parameters: gid to sent list, write id to sent
// list, and gid, token, version.
const CREATE_FIELDS = 11
const UPDATE_FIELDS = 7
const KEY_FIELDS = 3

/** Carries out the writes of one batch in the order of their calls, inside the caller's database transaction. */
export class Writes {
  readonly #create: Statement
  readonly #save: readonly Statement[]
  readonly #key: Statement
  readonly #renew: Statement
  readonly #findDue: Statement
  readonly #hold: Statement
  readonly #claim: Statement
  readonly #purge: Statement
  readonly #parkedAt: number
  readonly #neverAt: number
  #cells: readonly unknown[] = []
  #next = 0
  #now = 0

  constructor(database: Database, { parkedAt, neverAt }: Pick<WorkerSettings, 'parkedAt' | 'neverAt'>) {
    this.#parkedAt = parkedAt
    this.#neverAt = neverAt
    this.#create = database.prepare(STATEMENTS.create)
    const saves: string[] = []
    saves[HOLD.keep] = STATEMENTS.saveKeep
    saves[HOLD.release] = STATEMENTS.saveRelease
    saves[HOLD.finish] = STATEMENTS.saveFinish
    saves[HOLD.command] = STATEMENTS.saveCommand
    this.#save = saves.map((sql) => database.prepare(sql))
    this.#key = database.prepare(STATEMENTS.readKey)
    this.#renew = database.prepare(STATEMENTS.renew)
    this.#findDue = database.prepare(STATEMENTS.findDue)
    this.#hold = database.prepare(STATEMENTS.readHold)
    this.#claim = database.prepare(STATEMENTS.claim)
    this.#purge = database.prepare(STATEMENTS.purge)
  }

  /** `attempt` decides whether a failed write fails alone or takes the batch with it. */
  run(
    cells: readonly unknown[],
    now: number,
    attempt: (write: () => WriteResult) => WriteResult,
  ): readonly WriteResult[] {
    this.#cells = cells
    this.#next = 0
    this.#now = now
    const results: WriteResult[] = []
    while (this.#next < cells.length) results.push(this.#writeNext(attempt))
    return results
  }

  /** Takes the write's cells before it is tried, so a failed one leaves the cursor at its neighbour. */
  #writeNext(attempt: (write: () => WriteResult) => WriteResult): WriteResult {
    switch (this.#take()) {
      case WRITE.create: {
        const fields = this.#takeMany(CREATE_FIELDS)
        const dueInMs = this.#takeNumber()
        return attempt(() => this.#runCreate(fields, dueInMs))
      }
      case WRITE.update: {
        const [hold, due] = [this.#takeNumber(), this.#take()]
        const [fields, key] = [this.#takeMany(UPDATE_FIELDS), this.#takeMany(KEY_FIELDS)]
        return attempt(() => this.#runUpdate(fields, key, hold, due))
      }
      case WRITE.renew: {
        const leaseMs = this.#takeNumber()
        const leases = this.#takeMany(this.#takeNumber())
        return attempt(() => this.#runRenew(leaseMs, leases))
      }
      case WRITE.claimDue: {
        const [formatMax, leaseMs] = [this.#take(), this.#takeNumber()]
        const tokens = this.#takeMany(this.#takeNumber())
        return attempt(() => this.#runClaimDue(formatMax, leaseMs, tokens))
      }
      case WRITE.claim: {
        const [gid, token, formatMax, leaseMs] = [
          this.#take(),
          this.#take(),
          this.#takeNumber(),
          this.#takeNumber(),
        ]
        return attempt(() => this.#runClaim(gid, token, formatMax, leaseMs))
      }
      case WRITE.purge: {
        const limit = this.#take()
        return attempt(() => this.#purge.run(this.#now, limit))
      }
      default:
        throw new Error('a batch that cannot be read')
    }
  }

  #runCreate(fields: readonly unknown[], dueInMs: number): WriteResult {
    const changes = this.#create.run(...fields, this.#now + dueInMs, this.#now, this.#now)
    if (changes === 1) return 0
    const [gid, , , , , , , token, writeId] = fields
    const [rowToken, rowWriteId, , digest, status, createdAt] = this.#rowKey(gid)
    if (rowToken === token && rowWriteId === writeId) return Number(createdAt)
    return [digest ?? null, status ?? null]
  }

  #runUpdate(fields: readonly unknown[], key: readonly unknown[], hold: number, due: unknown): WriteResult {
    const held = hold === HOLD.keep ? [] : [this.#dueAt(hold, due)]
    const changes = this.#save[hold]?.run(...fields, this.#now, ...held, ...key)
    if (changes === 1) return 0
    const [gid, token] = key
    const row = this.#key.get(gid)
    if (row === undefined) return 'absent'
    const [rowToken, rowWriteId, rowVersion] = row
    if (rowToken !== token) return 'fenced'
    return rowWriteId === fields[0] ? Number(rowVersion) : -Number(rowVersion)
  }

  /** A finish names a duration, or null for never; a command without an instant is due now. */
  #dueAt(hold: unknown, due: unknown): number {
    if (hold === HOLD.finish) return due === null ? this.#neverAt : this.#now + Number(due)
    return due === null ? this.#now : Number(due)
  }

  /** For each lease the version of its row, or 0. */
  #runRenew(leaseMs: number, leases: readonly unknown[]): Row {
    const versions: number[] = []
    for (let i = 0; i < leases.length; i += 2) {
      const row = this.#renew.get(this.#now + leaseMs, leases[i], leases[i + 1])
      versions.push(Number(row?.[0] ?? 0))
    }
    return versions
  }

  #runClaimDue(formatMax: unknown, leaseMs: number, tokens: readonly unknown[]): readonly Row[] {
    const due = this.#findDue.all(Math.min(this.#now, this.#parkedAt - 1), formatMax, tokens.length)
    return due.flatMap(([gid], i) => this.#claim.all(tokens[i], this.#now + leaseMs, gid))
  }

  #runClaim(gid: unknown, token: unknown, formatMax: number, leaseMs: number): WriteResult {
    const row = this.#hold.get(gid)
    if (row === undefined) return 'absent'
    const [live, owned, dueAt, format] = row
    if (live !== 1) return 'final'
    if (Number(dueAt) >= this.#parkedAt) return 'parked'
    if (owned === 1 && Number(dueAt) > this.#now) return 'held'
    if (Number(format) > formatMax) return 'format'
    return this.#claim.all(token, this.#now + leaseMs, gid)
  }

  #rowKey(gid: unknown): Row {
    const row = this.#key.get(gid)
    if (row === undefined) throw new Error('a row that exists and cannot be read')
    return row
  }

  #take(): unknown {
    return this.#cells[this.#next++]
  }

  #takeNumber(): number {
    return Number(this.#take())
  }

  #takeMany(count: number): readonly unknown[] {
    this.#next += count
    return this.#cells.slice(this.#next - count, this.#next)
  }
}
