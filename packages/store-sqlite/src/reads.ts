import type { Database, Row, Statement } from './driver.ts'
import { STATEMENTS } from './generated/sql.ts'
import type { ListParameters, Read } from './messages.ts'

/** Runs each read as one database transaction, which shows what was committed before it began and nothing later. */
export class Reads {
  readonly #begin: Statement
  readonly #end: Statement
  readonly #row: Statement
  readonly #list: Statement
  readonly #listScanEnd: Statement
  readonly #stats: Statement
  readonly #documents: Statement
  readonly #freeBytes: Statement

  constructor(database: Database) {
    this.#begin = database.prepare('BEGIN')
    this.#end = database.prepare('ROLLBACK')
    this.#row = database.prepare(STATEMENTS.read)
    this.#list = database.prepare(STATEMENTS.list)
    this.#listScanEnd = database.prepare(STATEMENTS.listScanEnd)
    this.#stats = database.prepare(STATEMENTS.stats)
    this.#documents = database.prepare(STATEMENTS.readDocuments)
    this.#freeBytes = database.prepare(STATEMENTS.countFreeBytes)
  }

  read(read: Read): readonly Row[] {
    this.#begin.run()
    try {
      return this.#readRows(read)
    } finally {
      this.#end.run()
    }
  }

  #readRows(read: Read): readonly Row[] {
    switch (read.type) {
      case 'readMany':
        return read.gids.flatMap((gid) => this.#row.all(gid))
      case 'list':
        return this.#readPage(read.parameters)
      case 'stats':
        return this.#stats.all()
      case 'freeBytes':
        return this.#freeBytes.all()
      case 'documents':
        return this.#documents.all(read.category, read.after, read.limit)
    }
  }

  /**
   * Returns the matches, up to one more than the page holds, and after them the cursor if the scan's bound has cut it
   * short.
   */
  #readPage(parameters: ListParameters): readonly Row[] {
    const matches = this.#list.all(parameters)
    if (matches.length === parameters.matchesMax) return matches
    const { createdFrom, createdTo, cursorAt, cursorGid, scanRowsMax } = parameters
    const [last, older] = this.#listScanEnd.all({ createdFrom, createdTo, cursorAt, cursorGid, scanRowsMax })
    return last === undefined || older === undefined ? matches : [...matches, last]
  }
}
