import { randomBytes } from 'node:crypto'
import { toContendedError } from '../errors.ts'
import { findOrMake } from '../find-or-make.ts'
import { LoginTurns } from './login-turns.ts'
import type { CookiePlace } from './session-cookie.ts'
import { SESSIONS_CATEGORY, type SessionDocument, type SessionDocuments } from './session-documents.ts'
import { createHalves, hashHalves, type SessionHalves } from './session-halves.ts'
import {
  isOver,
  readSession,
  SESSION_MS,
  SESSIONS_MAX,
  SESSIONS_PER_KEY_MAX,
  type SessionRecord,
  writeSession,
} from './session-record.ts'
import { type KnownSession, type SessionClock, SessionTable } from './session-table.ts'

/** A use is written at most this often, so another node may end an idle session this much too early. */
const USE_WRITE_INTERVAL_MS = 5 * 60_000
/** A login removes this many sessions at most that are over. */
const REMOVED_PER_LOGIN_MAX = 50
const OPEN_ATTEMPTS_MAX = 3

export interface FoundSession {
  /** This is the SHA-256 of both halves. The store has the session under it. */
  readonly hash: string
  readonly record: SessionRecord
}

export interface OpenSession extends FoundSession {
  /** They are told to the browser, and stand nowhere else. */
  readonly halves: SessionHalves
}

/** Holds the logins of people, on all nodes that share a store. The store has a hash of each and never its halves. */
export class Sessions {
  readonly #documents: SessionDocuments
  readonly #clock: SessionClock
  readonly #table: SessionTable
  readonly #turns = new LoginTurns()
  /** These hashes were ended here, and their removal from the store is not yet done. */
  readonly #endedHere = new Set<string>()

  constructor(
    documents: SessionDocuments,
    clock: SessionClock = { nowMs: Date.now, steadyMs: () => performance.now() },
  ) {
    this.#documents = documents
    this.#clock = clock
    this.#table = new SessionTable(documents, clock, (read) => this.#removeEnded(read))
  }

  /**
   * Opens a session. It is durable when the promise resolves. Throws the error of a store that is away, and
   * SAGA_RATE_LIMITED if too many logins of the key are under way.
   */
  open(keyId: string, person: string | undefined, place: CookiePlace): Promise<OpenSession> {
    return this.#turns.take(keyId, () => this.#open(keyId, person, place))
  }

  async #open(keyId: string, person: string | undefined, place: CookiePlace): Promise<OpenSession> {
    const halves = createHalves()
    const key = hashHalves(halves)
    const now = this.#clock.nowMs()
    const record: SessionRecord = {
      keyId,
      ...(person === undefined ? {} : { person }),
      place,
      endsAt: now + SESSION_MS,
      usedAt: now,
    }
    for (let attempt = 1; attempt <= OPEN_ATTEMPTS_MAX; attempt += 1) {
      await this.#makeRoom(keyId)
      const written = await this.#write(key, record, 0)
      // Another node may have taken the room that was just made.
      if (written === 'full') continue
      await this.#table.settle()
      this.#table.set(key, { version: 1, record, storedUsedAt: now })
      return { halves, hash: key, record }
    }
    throw toContendedError('too many logins at once')
  }

  /**
   * Finds the session with these halves. `isUse` tells whether this keeps the session from ending as idle. Throws the error
   * of a store that is away if this node does not know the session.
   */
  async find(halves: SessionHalves, isUse = true): Promise<FoundSession | undefined> {
    const key = hashHalves(halves)
    if (this.#endedHere.has(key)) return undefined
    await (this.#table.get(key) === undefined ? this.#table.readForUnknown() : this.#table.refresh())
    const known = this.#table.get(key)
    const now = this.#clock.nowMs()
    if (known === undefined || isOver(known.record, now)) return undefined
    if (!isUse) return { hash: key, record: known.record }
    const used = { ...known, record: { ...known.record, usedAt: Math.max(now, known.record.usedAt) } }
    this.#table.set(key, used)
    if (now - used.storedUsedAt >= USE_WRITE_INTERVAL_MS) this.#writeUse(key, used)
    return { hash: key, record: used.record }
  }

  /** Ends a session on every node. Throws the error of a store that is away; then it has ended on this node. */
  async end(key: string): Promise<void> {
    this.#endedHere.add(key)
    this.#table.delete(key)
    const documents = await this.#documents.readDocuments(SESSIONS_CATEGORY)
    await this.#remove(documents.filter((each) => each.key === key))
    // A read that began before the removal would bring it back.
    await this.#table.settle()
    this.#table.delete(key)
    this.#endedHere.delete(key)
  }

  /**
   * Removes what is over, and then one session where there is no room for one more: the idlest of this key if it has its
   * share, else the idlest of the key that has the most. So a key with few sessions loses none to others.
   */
  async #makeRoom(keyId: string): Promise<void> {
    const now = this.#clock.nowMs()
    const stored = await this.#documents.readDocuments(SESSIONS_CATEGORY)
    const open: StoredSession[] = []
    const over: SessionDocument[] = []
    for (const document of stored) {
      const record = this.#readNewest(document)
      if (record === undefined || isOver(record, now)) over.push(document)
      else open.push({ document, record })
    }
    open.sort((a, b) => a.record.usedAt - b.record.usedAt)
    const ofKey = open.filter(({ record }) => record.keyId === keyId)
    const [idlest] =
      ofKey.length >= SESSIONS_PER_KEY_MAX ? ofKey : open.length >= SESSIONS_MAX ? listOfLargestKey(open) : []
    const leaving = [
      ...over.slice(0, REMOVED_PER_LOGIN_MAX),
      ...(idlest === undefined ? [] : [idlest.document]),
    ]
    await this.#remove(leaving)
    await this.#table.settle()
    for (const { key } of leaving) this.#table.delete(key)
  }

  #readNewest({ key, text }: SessionDocument): SessionRecord | undefined {
    const stored = readSession(text)
    const usedAt = this.#table.get(key)?.record.usedAt ?? 0
    return stored === undefined ? undefined : { ...stored, usedAt: Math.max(stored.usedAt, usedAt) }
  }

  async #remove(documents: readonly SessionDocument[]): Promise<void> {
    for (const { key, version } of documents) await this.#removeOne(key, version)
  }

  /** Another node may just have written a use, so the removal is tried again with the version that is there then. */
  async #removeOne(key: string, version: number): Promise<void> {
    let expectedVersion = version
    for (let attempt = 1; attempt <= OPEN_ATTEMPTS_MAX; attempt += 1) {
      const removal = { category: SESSIONS_CATEGORY, key, expectedVersion }
      const removed = await this.#documents.removeDocument(removal)
      if (removed.type !== 'conflict') return
      expectedVersion = removed.version
    }
    throw toContendedError('the session is used at the same time; end it once more')
  }

  #removeEnded(read: readonly SessionDocument[]): void {
    for (const { key, version } of read) {
      if (!this.#endedHere.has(key)) continue
      this.#table.delete(key)
      this.#removeOne(key, version).catch(() => {
        // The next read tries again. Until then the session stays ended on this node.
      })
    }
  }

  /** Writes that a session is used, so that it does not end as idle on another node. */
  #writeUse(key: string, { record, version }: KnownSession): void {
    // The next use after the interval writes again, whatever becomes of this write.
    this.#table.set(key, { record, version, storedUsedAt: record.usedAt })
    this.#write(key, record, version).then(
      (written) => {
        const known = this.#table.get(key)
        if (written === 'written' && known?.version === version)
          this.#table.set(key, { ...known, version: version + 1 })
      },
      () => {
        // The store is away. The session stays good here, and a later use is written.
      },
    )
  }

  async #write(key: string, record: SessionRecord, expectedVersion: number) {
    const writeId = randomBytes(16).toString('hex')
    const text = writeSession(record)
    const write = { category: SESSIONS_CATEGORY, key, text, expectedVersion, writeId }
    return (await this.#documents.writeDocument(write)).type
  }
}

interface StoredSession {
  readonly document: SessionDocument
  readonly record: SessionRecord
}

/** Returns the sessions of the key that has the most of these, in the same order. */
function listOfLargestKey(open: readonly StoredSession[]): readonly StoredSession[] {
  const byKey = new Map<string, StoredSession[]>()
  for (const session of open) findOrMake(byKey, session.record.keyId, () => [], SESSIONS_MAX).push(session)
  return [...byKey.values()].reduce((most, each) => (each.length > most.length ? each : most), [])
}
