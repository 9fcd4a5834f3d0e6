import {
  type Clock,
  type Ids,
  type Store,
  type StoredDocument,
  StoreUnavailableError,
} from '@counterstep/core'
import type { EngineObserver } from '../observer.ts'
import { within } from '../until-definite.ts'
import { readNodeDocument } from './node-document.ts'
import type { NodeSums } from './node-sums.ts'

const CATEGORY = 'nodes'
const REPORT_EVERY_MS = 15_000
/** A node that has not reported for this long is shown as gone. */
export const GONE_AFTER_MS = 45_000
const REMOVED_AFTER_MS = 3_600_000
/** The document of a node that stops is removed, if the store answers within this time. */
const LEAVE_MS = 500
/** Where there is no room for one more document, this many of the oldest are removed. */
const REMOVED_FOR_ROOM = 10

/** Another node, and the sums that it has told last. */
export interface OtherNode {
  readonly sums: NodeSums
  readonly isGone: boolean
  /** When it told this, by this node's epoch time. */
  readonly seenAt: number
}

interface Heard {
  readonly sums: NodeSums
  /** How old its document was when it was read, by the store's clock. */
  readonly ageMs: number
}

export interface NodeReportsParts {
  readonly store: Pick<Store, 'readDocuments' | 'writeDocument' | 'removeDocument'>
  readonly clock: Clock
  readonly ids: Pick<Ids, 'writeId'>
  readonly observer: EngineObserver
  readonly readEpochMs: () => number
  readonly id: string
  readonly writeText: () => string
}

/**
 * Tells the sums of this node to the other nodes by a document in the store, and reads theirs. While the store is away,
 * what was read last stays.
 */
export class NodeReports {
  readonly #parts: NodeReportsParts
  #version = 0
  #heard: readonly Heard[] = []
  #heardAt = 0
  /** The last report has reached the store, so what has aged since was not reported. */
  #isHearing = false
  #cancel: () => void = () => undefined
  #stopped = false

  constructor(parts: NodeReportsParts) {
    this.#parts = parts
  }

  start(): void {
    void this.#reportAgain()
  }

  /** Ends the reports and takes back the last one, so that this node is not shown as gone. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel()
    const { store, id, clock } = this.#parts
    if (this.#version === 0) return
    const removal = { category: CATEGORY, key: id, expectedVersion: this.#version }
    await within(
      clock,
      LEAVE_MS,
      this.#whileStoreAnswers(() => store.removeDocument(removal)),
    )
  }

  others(): readonly OtherNode[] {
    const { clock, readEpochMs } = this.#parts
    const sinceMs = clock.now() - this.#heardAt
    return this.#heard.map(({ sums, ageMs }) => {
      const isGone = ageMs + (this.#isHearing ? sinceMs : 0) > GONE_AFTER_MS
      return { sums, isGone, seenAt: Math.round(readEpochMs() - sinceMs - ageMs) }
    })
  }

  async #reportAgain(): Promise<void> {
    this.#isHearing = (await this.#whileStoreAnswers(() => this.#report())) === true
    if (this.#stopped) return
    this.#cancel = this.#parts.clock.after(REPORT_EVERY_MS, () => void this.#reportAgain())
  }

  async #report(): Promise<true> {
    const { store, id, clock } = this.#parts
    const isFull = await this.#write()
    const documents = await store.readDocuments(CATEGORY)
    const own = documents.find(({ key }) => key === id)
    const now = own?.updatedAt ?? Math.max(0, ...documents.map(({ updatedAt }) => updatedAt))
    const others = documents.filter(({ key }) => key !== id)
    this.#heardAt = clock.now()
    this.#heard = others.flatMap(({ text, updatedAt }) => {
      const sums = readNodeDocument(text)
      const ageMs = Math.max(0, now - updatedAt)
      return sums === undefined || ageMs > REMOVED_AFTER_MS ? [] : [{ sums, ageMs }]
    })
    await this.#remove(others.filter(({ updatedAt }) => now - updatedAt > REMOVED_AFTER_MS))
    if (isFull) await this.#remove(findOldest(others, REMOVED_FOR_ROOM))
    return true
  }

  /** Returns whether there is no room for one more document. */
  async #write(): Promise<boolean> {
    const { store, id, ids, writeText } = this.#parts
    const text = writeText()
    // The version is unknown after an answer was lost, or after another node has removed the document.
    for (let tries = 0; tries < 2; tries++) {
      const write = {
        category: CATEGORY,
        key: id,
        text,
        expectedVersion: this.#version,
        writeId: ids.writeId(),
      }
      const result = await store.writeDocument(write)
      if (result.type === 'full') return true
      this.#version = result.version
      if (result.type === 'written') return false
    }
    return false
  }

  async #remove(documents: readonly StoredDocument[]): Promise<void> {
    const { store } = this.#parts
    for (const { key, version } of documents)
      await store.removeDocument({ category: CATEGORY, key, expectedVersion: version })
  }

  async #whileStoreAnswers<T>(call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call()
    } catch (error: unknown) {
      // While the store is away, the report comes later. Everything else is a bug, and no transaction suffers from it.
      if (!(error instanceof StoreUnavailableError))
        this.#parts.observer.event({ level: 'error', name: 'node-report-failed', error })
      return undefined
    }
  }
}

function findOldest(documents: readonly StoredDocument[], count: number): readonly StoredDocument[] {
  return [...documents].sort((one, other) => one.updatedAt - other.updatedAt).slice(0, count)
}
