import type { ListOrder } from '@counterstep/core'
import type { Database, Row, Statement } from './driver.ts'
import { STATEMENTS } from './generated/sql.ts'
import type { ListParameters, Read } from './messages.ts'

interface ListStatements {
  readonly page: Statement
  readonly scanEnd: Statement
}

/** Runs each read as one database transaction, which shows what was committed before it began and nothing later. */
export class Reads {
  readonly #begin: Statement
  readonly #end: Statement
  readonly #row: Statement
  readonly #final: Statement
  readonly #lists: Readonly<Record<ListOrder, ListStatements>>
  readonly #stats: Statement
  readonly #problems: Statement
  readonly #marks: Statement
  readonly #documents: Statement
  readonly #freeBytes: Statement

  constructor(database: Database) {
    this.#begin = database.prepare('BEGIN')
    this.#end = database.prepare('ROLLBACK')
    this.#row = database.prepare(STATEMENTS.read)
    this.#final = database.prepare(STATEMENTS.findFinal)
    const prepare = (page: string, scanEnd: string) => ({
      page: database.prepare(page),
      scanEnd: database.prepare(scanEnd),
    })
    this.#lists = {
      created: prepare(STATEMENTS.list, STATEMENTS.listScanEnd),
      due: prepare(STATEMENTS.listDue, STATEMENTS.listDueScanEnd),
      'due-last': prepare(STATEMENTS.listDueLast, STATEMENTS.listDueLastScanEnd),
    }
    this.#stats = database.prepare(STATEMENTS.stats)
    this.#problems = database.prepare(STATEMENTS.countProblems)
    this.#marks = database.prepare(STATEMENTS.countMarks)
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
      case 'findFinal':
        return read.gids.flatMap((gid) => this.#final.all(gid))
      case 'list':
        return this.#readPage(read.order, read.parameters)
      case 'stats':
        return [
          ...label('counts', this.#stats.all({ pausedBit: read.pausedBit })),
          ...label('problem', this.#problems.all()),
          ...label('marks', this.#marks.all()),
        ]
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
  #readPage(order: ListOrder, parameters: ListParameters): readonly Row[] {
    const { page, scanEnd } = this.#lists[order]
    const matches = page.all(parameters)
    if (matches.length === parameters.matchesMax) return matches
    const { createdFrom, createdTo, cursorAt, cursorGid, scanRowsMax } = parameters
    const range = { cursorAt, cursorGid, scanRowsMax }
    // Only the order of the creation has its bounds in the range.
    const [last, next] = scanEnd.all(order === 'created' ? { ...range, createdFrom, createdTo } : range)
    return last === undefined || next === undefined ? matches : [...matches, last]
  }
}

/** Puts before the cells of each row the word by which it is told from the rows of other statements. */
function label(word: string, rows: readonly Row[]): readonly Row[] {
  return rows.map((row) => [word, ...row])
}
