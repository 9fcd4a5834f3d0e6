import { DocumentWrites } from './document-writes.ts'
import type { Cell, Database, Row, Statement } from './driver.ts'
import { COLUMNS, STATEMENTS } from './generated/sql.ts'
import type {
  ClaimDueWrite,
  ClaimWrite,
  CreateWrite,
  PostponeDueWrite,
  RenewWrite,
  UpdateWrite,
  WorkerSettings,
  Write,
  WriteResult,
} from './messages.ts'

/** Runs one write after the other inside the caller's database transaction. */
export class Writes {
  readonly #create: Statement
  readonly #enterTag: Statement
  readonly #save: Readonly<Record<UpdateWrite[1], Statement>>
  readonly #key: Statement
  readonly #renew: Statement
  readonly #findDue: Statement
  readonly #hold: Statement
  readonly #claim: Statement
  readonly #postpone: Statement
  readonly #purge: Statement
  readonly #purgeableTags: Statement
  readonly #deleteTag: Statement
  readonly #documents: DocumentWrites
  readonly #parkedAt: number
  readonly #neverAt: number

  constructor(database: Database, settings: Pick<WorkerSettings, 'parkedAt' | 'neverAt' | 'documentsMax'>) {
    this.#parkedAt = settings.parkedAt
    this.#neverAt = settings.neverAt
    this.#documents = new DocumentWrites(database, settings)
    this.#create = database.prepare(STATEMENTS.create)
    this.#enterTag = database.prepare(STATEMENTS.enterTag)
    this.#save = {
      keep: database.prepare(STATEMENTS.saveKeep),
      release: database.prepare(STATEMENTS.saveRelease),
      finish: database.prepare(STATEMENTS.saveFinish),
      command: database.prepare(STATEMENTS.saveCommand),
    }
    this.#key = database.prepare(STATEMENTS.readKey)
    this.#renew = database.prepare(STATEMENTS.renew)
    this.#findDue = database.prepare(STATEMENTS.findDue)
    this.#hold = database.prepare(STATEMENTS.readHold)
    this.#claim = database.prepare(STATEMENTS.claim)
    this.#postpone = database.prepare(STATEMENTS.postpone)
    this.#purge = database.prepare(STATEMENTS.purge)
    this.#purgeableTags = database.prepare(STATEMENTS.findPurgeableTags)
    this.#deleteTag = database.prepare(STATEMENTS.deleteTag)
  }

  run(write: Write, now: number): WriteResult {
    switch (write[0]) {
      case 'create':
        return this.#runCreate(write, now)
      case 'update':
        return this.#runUpdate(write, now)
      case 'renew':
        return this.#runRenew(write, now)
      case 'claimDue':
        return this.#runClaimDue(write, now)
      case 'claim':
        return this.#runClaim(write, now)
      case 'postponeDue':
        return this.#runPostponeDue(write, now)
      case 'purge':
        return this.#runPurge(write[1], now)
      case 'writeDocument':
        return this.#documents.write(write, now)
      case 'removeDocument':
        return this.#documents.remove(write)
    }
  }

  #runCreate([, dueInMs, roomBytes, ...fields]: CreateWrite, now: number): WriteResult {
    const changes = this.#create.run(...fields, now + dueInMs, now, now, roomBytes)
    const [gid, , , , , , , token, writeId, , , , tags] = fields
    if (changes === 1) {
      if (tags) for (const tag of splitTags(tags)) this.#enterTag.run(tag, now, gid)
      return 0
    }
    const [rowToken, rowWriteId, , digest, status, createdAt] = this.#readKey(gid)
    if (rowToken === token && rowWriteId === writeId) return Number(createdAt)
    return [digest ?? null, status ?? null]
  }

  #runUpdate(write: UpdateWrite, now: number): WriteResult {
    const [, hold, due, gid, token, version, writeId, ...fields] = write
    const held = hold === 'keep' ? [] : [this.#toDueAt(hold, due, now)]
    const changes = this.#save[hold].run(writeId, ...fields, now, ...held, gid, token, version)
    if (changes === 1) return 0
    const row = this.#key.get(gid)
    if (row === undefined) return 'absent'
    const [rowToken, rowWriteId, rowVersion] = row
    if (rowToken !== token) return 'fenced'
    return rowWriteId === writeId ? Number(rowVersion) : -Number(rowVersion)
  }

  /** A finish has a retention, or null for never. A command without a time is due now. */
  #toDueAt(hold: UpdateWrite[1], due: number | null, now: number): number {
    if (hold === 'finish') return due === null ? this.#neverAt : now + due
    return due ?? now
  }

  #runPurge(limit: number, now: number): number {
    for (const [tags = null, createdAt, gid] of this.#purgeableTags.all(now, limit)) {
      for (const tag of splitTags(tags)) this.#deleteTag.run(tag, createdAt, gid)
    }
    return this.#purge.run(now, limit)
  }

  /** Returns for each lease the version of its row, or 0 if it is lost. */
  #runRenew([, leaseMs, ...leases]: RenewWrite, now: number): Row {
    const versions: number[] = []
    for (let i = 0; i < leases.length; i += 2) {
      const row = this.#renew.get(now + leaseMs, leases[i], leases[i + 1])
      versions.push(Number(row?.[0] ?? 0))
    }
    return versions
  }

  #runClaimDue([, formatMax, leaseMs, bytesMax, ...tokens]: ClaimDueWrite, now: number): readonly Row[] {
    const claimed: Row[] = []
    let bytes = 0
    for (const gid of this.#findDueGids(now, formatMax, tokens.length)) {
      if (bytes >= bytesMax) break
      for (const row of this.#claim.all(tokens[claimed.length], now + leaseMs, gid)) {
        claimed.push(row)
        bytes += countBytes(row[COLUMNS.claim.definition]) + countBytes(row[COLUMNS.claim.progress])
      }
    }
    return claimed
  }

  /** Returns the gids of the postponed rows. */
  #runPostponeDue([, formatMax, byMs, limit]: PostponeDueWrite, now: number): Row {
    const due = this.#findDueGids(now, formatMax, limit)
    for (const gid of due) this.#postpone.run(now + byMs, gid)
    return due
  }

  #findDueGids(now: number, formatMax: number, limit: number): Row {
    const rows = this.#findDue.all(Math.min(now, this.#parkedAt - 1), formatMax, limit)
    return rows.map(([gid]) => gid ?? null)
  }

  #runClaim([, gid, token, formatMax, leaseMs]: ClaimWrite, now: number): WriteResult {
    const row = this.#hold.get(gid)
    if (row === undefined) return 'absent'
    const [live, owned, dueAt, format, hasKnownCodes] = row
    if (live !== 1) return 'final'
    if (Number(dueAt) >= this.#parkedAt) return 'parked'
    if (owned === 1 && Number(dueAt) > now) return 'held'
    if (Number(format) > formatMax || hasKnownCodes !== 1) return 'format'
    return this.#claim.all(token, now + leaseMs, gid)
  }

  #readKey(gid: unknown): Row {
    const row = this.#key.get(gid)
    if (row === undefined) throw new Error('a row that exists and cannot be read')
    return row
  }
}

function countBytes(column: Cell | undefined): number {
  return typeof column === 'string' ? Buffer.byteLength(column) : 0
}

/** Returns the tags of the column, each as the word that the index has. The contract's own reader is not loaded in this thread. */
function splitTags(column: Cell): readonly string[] {
  return String(column)
    .split('\n')
    .filter((tag) => tag !== '')
}
