import type { ListCursor, ListQuery } from '@counterstep/core'
import type { EngineApi, ShownWhole } from '@counterstep/engine'
import { type Gid, isGid } from '@counterstep/protocol'
import { writeGoJson } from '../go-json/write-go-json.ts'
import { refuseNumber } from '../wire/read-number.ts'
import {
  LIST_CHARACTERS_MAX,
  LIST_MS_MAX,
  LIST_PAGE,
  LIST_ROWS_MAX,
  LISTS_PER_ANSWER_MAX,
  READS_AT_ONCE,
} from './list-page.ts'
import { showTransaction } from './show-transaction.ts'

export interface AskedList {
  readonly filter: Omit<ListQuery, 'limit' | 'cursor'>
  readonly position: string
  readonly limit: number
  /** The reads take their turn among those of this caller. */
  readonly caller?: string
  /** It returns the milliseconds of a clock that only goes forward. */
  readonly now?: () => number
}

export interface ListedPage {
  readonly position: string
  /** Each is written as JSON. */
  readonly transactions: readonly string[]
}

/**
 * Lists transactions, the newest first. The returned `position` goes on after the last row; it is empty when there are no
 * more rows. An answer may have fewer rows than `limit`, even none, if it has used up its lists, its time or its
 * characters. Then it has a `position`.
 */
export async function listTransactions(
  engine: Pick<EngineApi, 'list' | 'showWhole'>,
  { filter, position, limit, caller, now = () => performance.now() }: AskedList,
): Promise<ListedPage> {
  const until = now() + LIST_MS_MAX
  const rowsMax = limit > 0 ? Math.min(limit, LIST_ROWS_MAX) : LIST_ROWS_MAX
  const rows: ListCursor[] = []
  let cursor = readPosition(position)
  let lists = 0
  do {
    const query = {
      ...filter,
      limit: Math.min(LIST_PAGE, rowsMax - rows.length),
      ...(cursor === undefined ? {} : { cursor }),
    }
    const page = await engine.list(query, caller)
    for (const { createdAt, gid } of page.items) rows.push({ at: createdAt, gid: gid as Gid })
    cursor = page.cursor
    lists++
  } while (cursor !== undefined && rows.length < rowsMax && lists < LISTS_PER_ANSWER_MAX && now() < until)
  const { transactions, readTo } = await readAll(
    (gid) => engine.showWhole(gid, caller),
    rows,
    () => now() < until,
  )
  const end = readTo ?? cursor ?? (rows.length === limit ? rows.at(-1) : undefined)
  return { position: end === undefined ? '' : writePosition(end), transactions }
}

interface ReadRows {
  readonly transactions: ListedPage['transactions']
  /** The rows after this one were left out for lack of time or room. It is undefined if all rows were read. */
  readonly readTo: ListCursor | undefined
}

async function readAll(
  read: (gid: Gid) => Promise<ShownWhole | undefined>,
  rows: readonly ListCursor[],
  isTimeLeft: () => boolean,
): Promise<ReadRows> {
  const transactions: string[] = []
  let characters = 0
  for (let from = 0; from < rows.length; from += READS_AT_ONCE) {
    // The first rows are read in any case, so that a client that goes on reaches the end.
    if (from > 0 && !isTimeLeft()) return { transactions, readTo: rows[from - 1] }
    const some = rows.slice(from, from + READS_AT_ONCE)
    const seen = await Promise.all(some.map(({ gid }) => read(gid)))
    for (const [at, each] of seen.entries()) {
      if (each === undefined) continue
      // Only the text tells its length, since some characters are six when they are escaped.
      const text = writeGoJson(showTransaction(each))
      characters += text.length
      const isOver = characters > LIST_CHARACTERS_MAX && transactions.length > 0
      if (isOver) return { transactions, readTo: rows[from + at - 1] }
      transactions.push(text)
    }
  }
  return { transactions, readTo: undefined }
}

function writePosition({ at, gid }: ListCursor): string {
  return `${at}.${Buffer.from(gid).toString('base64url')}`
}

function readPosition(position: string): ListCursor | undefined {
  if (position === '') return undefined
  const [, at = '', text = ''] = /^(\d{1,15})\.([\w-]+)$/.exec(position) ?? []
  const gid = Buffer.from(text, 'base64url').toString()
  if (at === '' || !isGid(gid)) throw refuseNumber(position)
  return { at: Number(at), gid }
}
