import { SESSIONS_CATEGORY, type SessionDocument, type SessionDocuments } from './session-documents.ts'
import { isOver, readSession, type SessionRecord } from './session-record.ts'

/** A session that was ended at another node may still be accepted for this long. */
const FRESH_MS = 1_000
/** A known session waits this long for the store at most. Then it counts as it was last read. */
const KNOWN_WAIT_MS = 300
/** The store is read for sessions that are unknown here no more often than this, however many callers make up. */
const UNKNOWN_READ_INTERVAL_MS = 250

export interface KnownSession {
  readonly version: number
  readonly record: SessionRecord
  /** The store has this instant as the last use. */
  readonly storedUsedAt: number
}

export interface SessionClock {
  /** Tells the time in epoch milliseconds. */
  readonly nowMs: () => number
  /** Tells a time that never goes back. */
  readonly steadyMs: () => number
}

/**
 * Holds the sessions of all nodes as this node has last read them, so that they stay good while the store is away. They
 * are read only while callers come with sessions.
 */
export class SessionTable {
  readonly #documents: SessionDocuments
  readonly #clock: SessionClock
  readonly #onRead: (documents: readonly SessionDocument[]) => void
  #sessions = new Map<string, KnownSession>()
  #reading: Promise<void> | undefined
  /** It has not begun to read yet. */
  #nextRead: Promise<void> | undefined
  #readStartedAt = Number.NEGATIVE_INFINITY
  #readEndedAt = Number.NEGATIVE_INFINITY
  #isAway = false

  constructor(
    documents: SessionDocuments,
    clock: SessionClock,
    onRead: (documents: readonly SessionDocument[]) => void,
  ) {
    this.#documents = documents
    this.#clock = clock
    this.#onRead = onRead
  }

  /** `hash` is the one of both halves of the session. */
  get(hash: string): KnownSession | undefined {
    return this.#sessions.get(hash)
  }

  set(hash: string, session: KnownSession): void {
    this.#sessions.set(hash, session)
  }

  delete(hash: string): void {
    this.#sessions.delete(hash)
  }

  /** Reads the store again if that is due, without a failure: the sessions that are known stay as they are then. */
  async refresh(): Promise<void> {
    const { steadyMs } = this.#clock
    if (steadyMs() - this.#readEndedAt < FRESH_MS) return
    const wasAway = this.#isAway
    const read = this.#read().catch(() => {
      // `#isAway` keeps it. A session that is unknown here gets the error.
    })
    // While the store is away, nothing waits for it but the next read.
    if (wasAway) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#isAway = true
        resolve()
      }, KNOWN_WAIT_MS)
    })
    await Promise.race([read, late])
    clearTimeout(timer)
  }

  /**
   * Reads the store, since a session is unknown here. All that wait meanwhile share the read. Throws the error of a store
   * that is away.
   */
  readForUnknown(): Promise<void> {
    this.#nextRead ??= this.#waitForTurn().then(() => {
      // A caller that comes from here on needs a later read.
      this.#nextRead = undefined
      return this.#read()
    })
    return this.#nextRead
  }

  /** Waits until the read that is under way has ended. A change that is made after it is not overwritten by it. */
  async settle(): Promise<void> {
    await this.#reading?.catch(() => {
      // The caller that began the read gets its error.
    })
  }

  async #waitForTurn(): Promise<void> {
    const waitMs = this.#readStartedAt + UNKNOWN_READ_INTERVAL_MS - this.#clock.steadyMs()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    // A read that has begun already may have passed by the document.
    while (this.#reading !== undefined) await this.settle()
  }

  #read(): Promise<void> {
    this.#reading ??= this.#replaceSessions().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #replaceSessions(): Promise<void> {
    this.#readStartedAt = this.#clock.steadyMs()
    try {
      const documents = await this.#documents.readDocuments(SESSIONS_CATEGORY)
      this.#sessions = this.#toSessions(documents)
      this.#isAway = false
      this.#onRead(documents)
    } catch (error) {
      this.#isAway = true
      throw error
    } finally {
      this.#readEndedAt = this.#clock.steadyMs()
    }
  }

  #toSessions(documents: readonly SessionDocument[]): Map<string, KnownSession> {
    const sessions = new Map<string, KnownSession>()
    for (const { key, text, version } of documents) {
      const stored = readSession(text)
      if (stored === undefined) continue
      // This node may have seen it used since it was last written.
      const usedAt = Math.max(stored.usedAt, this.#sessions.get(key)?.record.usedAt ?? 0)
      const record = { ...stored, usedAt }
      if (!isOver(record, this.#clock.nowMs()))
        sessions.set(key, { version, record, storedUsedAt: stored.usedAt })
    }
    return sessions
  }
}
