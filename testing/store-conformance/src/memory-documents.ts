import {
  compareByBytes,
  DOCUMENTS_MAX,
  type DocumentRemoval,
  type DocumentRemovalResult,
  type DocumentWrite,
  type DocumentWriteResult,
  type StoredDocument,
} from '@counterstep/core'

interface DocumentRow {
  readonly document: StoredDocument
  /** The id of the last write. */
  readonly writeId: string
}

/** The documents of the reference store. Each call is one atomic step. */
export class MemoryDocuments {
  readonly #categories = new Map<string, Map<string, DocumentRow>>()

  read(category: string): readonly StoredDocument[] {
    return [...this.#getRows(category).values()]
      .map(({ document }) => document)
      .sort((a, b) => compareByBytes(a.key, b.key))
  }

  write({ category, key, text, expectedVersion, writeId }: DocumentWrite, now: number): DocumentWriteResult {
    const rows = this.#getRows(category)
    const row = rows.get(key)
    const present = row?.document.version ?? 0
    // This write was sent before.
    if (row?.writeId === writeId) return { type: 'written', version: present }
    if (present !== expectedVersion) return { type: 'conflict', version: present }
    if (row === undefined && rows.size >= DOCUMENTS_MAX) return { type: 'full' }
    const version = present + 1
    rows.set(key, { document: { category, key, text, version, updatedAt: now }, writeId })
    return { type: 'written', version }
  }

  remove({ category, key, expectedVersion }: DocumentRemoval): DocumentRemovalResult {
    const rows = this.#getRows(category)
    const present = rows.get(key)?.document.version
    if (present === undefined) return { type: 'absent' }
    if (present !== expectedVersion) return { type: 'conflict', version: present }
    rows.delete(key)
    return { type: 'removed' }
  }

  #getRows(category: string): Map<string, DocumentRow> {
    const known = this.#categories.get(category)
    if (known !== undefined) return known
    const rows = new Map<string, DocumentRow>()
    this.#categories.set(category, rows)
    return rows
  }
}
