import type { Database, Row, Statement } from './driver.ts'
import { STATEMENTS } from './generated/sql.ts'
import type { RemoveDocumentWrite, WorkerSettings, WriteDocumentWrite } from './messages.ts'

/** Writes and removes documents inside the caller's database transaction. Returns the outcome and a version. */
export class DocumentWrites {
  readonly #head: Statement
  readonly #count: Statement
  readonly #insert: Statement
  readonly #update: Statement
  readonly #delete: Statement
  readonly #documentsMax: number

  constructor(database: Database, { documentsMax }: Pick<WorkerSettings, 'documentsMax'>) {
    this.#documentsMax = documentsMax
    this.#head = database.prepare(STATEMENTS.readDocumentHead)
    this.#count = database.prepare(STATEMENTS.countDocuments)
    this.#insert = database.prepare(STATEMENTS.insertDocument)
    this.#update = database.prepare(STATEMENTS.updateDocument)
    this.#delete = database.prepare(STATEMENTS.deleteDocument)
  }

  write([, category, key, text, expectedVersion, writeId]: WriteDocumentWrite, now: number): Row {
    const [version, rowWriteId] = this.#head.get(category, key) ?? [0, null]
    const present = Number(version)
    if (rowWriteId === writeId) return ['written', present]
    if (present !== expectedVersion) return ['conflict', present]
    if (present > 0) {
      this.#update.run(text, writeId, now, category, key)
    } else {
      const count = this.#count.get(category)?.[0]
      if (Number(count) >= this.#documentsMax) return ['full', 0]
      this.#insert.run(category, key, text, writeId, now)
    }
    return ['written', present + 1]
  }

  remove([, category, key, expectedVersion]: RemoveDocumentWrite): Row {
    const head = this.#head.get(category, key)
    if (head === undefined) return ['absent', 0]
    const present = Number(head[0])
    if (present !== expectedVersion) return ['conflict', present]
    this.#delete.run(category, key)
    return ['removed', 0]
  }
}
