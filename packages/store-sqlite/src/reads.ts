import type { ListOrder } from '@counterstep/core'
import type { Database, Row, Statement } from './driver.ts'
import { STATEMENTS } from './generated/sql.ts'
import type { Read } from './messages.ts'

interface ListStatements {
  readonly page: Statement
  readonly scanEnd: Statement
}

/** A page is scanned in one of the orders, or through the index of the tags, which is in the order of the accepts. */
type Scan = ListOrder | 'tag'

const SCAN_MARK = '/*scan*/'
const SCANS: Readonly<Record<Scan, string>> = {
  created: STATEMENTS.scanCreated,
  due: STATEMENTS.scanDue,
  'due-last': STATEMENTS.scanDueLast,
  tag: STATEMENTS.scanTag,
}

/** Runs each read as one database transaction, which shows what was committed before it began and nothing later. */
export class Reads {
  readonly #begin: Statement
  readonly #end: Statement
  readonly #row: Statement
  readonly #final: Statement
  readonly #lists: Readonly<Record<Scan, ListStatements>>
  readonly #tagged: Statement
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
    const prepare = (scan: Scan) => ({
      page: database.prepare(STATEMENTS.list.replace(SCAN_MARK, SCANS[scan])),
      scanEnd: database.prepare(STATEMENTS.scanEnd.replace(SCAN_MARK, SCANS[scan])),
    })
    this.#lists = {
      created: prepare('created'),
      due: prepare('due'),
      'due-last': prepare('due-last'),
      tag: prepare('tag'),
    }
    this.#tagged = database.prepare(STATEMENTS.countTagged)
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
        return this.#readPage(read)
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
  #readPage({ order, tags, parameters }: Read & { readonly type: 'list' }): readonly Row[] {
    const { createdFrom, createdTo, cursorAt, cursorGid, rowsMax, matchesMax } = parameters
    const tag = order === 'created' ? this.#findRarest(tags, rowsMax) : undefined
    const tagged = tag === undefined ? {} : { tag }
    const { page, scanEnd } = this.#lists[tag === undefined ? order : 'tag']
    const matches = page.all({ ...parameters, ...tagged })
    if (matches.length === matchesMax) return matches
    const range = { cursorAt, cursorGid, rowsMax: rowsMax + 1, ...tagged }
    // Only the order of the creation has its bounds in the range.
    const [last, next] = scanEnd.all(order === 'created' ? { ...range, createdFrom, createdTo } : range)
    return last === undefined || next === undefined ? matches : [...matches, last]
  }

  /** A page scans the rarest of several tags, and its other filters ask for the others. */
  #findRarest(tags: readonly string[], rowsMax: number): string | undefined {
    if (tags.length <= 1) return tags[0]
    const counts = tags.map((tag) => Number(this.#tagged.get({ tag, rowsMax })?.[0]))
    return tags[counts.indexOf(Math.min(...counts))]
  }
}

/** Puts before the cells of each row the word by which it is told from the rows of other statements. */
function label(word: string, rows: readonly Row[]): readonly Row[] {
  return rows.map((row) => [word, ...row])
}
