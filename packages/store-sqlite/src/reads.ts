import type { Database, Row, Statement } from './driver.ts'
import { STATEMENTS } from './generated/sql.ts'
import type { ListParameters, Read } from './messages.ts'

/** Each read is one database transaction: it shows what was committed before it began, and nothing that comes meanwhile. */
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
      return this.#rows(read)
    } finally {
      this.#end.run()
    }
  }

  #rows(read: Read): readonly Row[] {
    switch (read.type) {
      case 'readMany':
        return read.gids.flatMap((gid) => this.#row.all(gid))
      case 'list':
        return this.#page(read.parameters)
      case 'stats':
        return this.#stats.all()
      case 'freeBytes':
        return this.#freeBytes.all()
      case 'documents':
        return this.#documents.all(read.category, read.after, read.limit)
    }
  }

  /** The matches, one more than the page if there are, and after them the cursor where the scan's bound cut it short. */
  #page(parameters: ListParameters): readonly Row[] {
    const matches = this.#list.all(parameters)
    if (matches.length === parameters.matchesMax) return matches
    const { createdFrom, createdTo, cursorAt, cursorGid, scanRowsMax } = parameters
    const [last, older] = this.#listScanEnd.all({ createdFrom, createdTo, cursorAt, cursorGid, scanRowsMax })
    return last === undefined || older === undefined ? matches : [...matches, last]
  }
}
