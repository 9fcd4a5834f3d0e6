import type { ListCursor, ListQuery } from '@counterstep/core'
import type { EngineApi } from '@counterstep/engine'
import { type Gid, isGid } from '@counterstep/protocol'
import { badNumber } from '../wire/read-number.ts'
import { LIST_PAGE, LIST_ROWS_MAX, READS_AT_ONCE } from './list-page.ts'
import { see } from './see.ts'
import { shownTransaction } from './shown-transaction.ts'

export interface ListedPage {
  readonly position: string
  readonly transactions: readonly ReturnType<typeof shownTransaction>[]
}

/** Newest first. `position` goes on behind the last row; it is empty when there is nothing more. */
export async function listTransactions(
  engine: EngineApi,
  filter: Omit<ListQuery, 'limit' | 'cursor'>,
  position: string,
  limit: number,
): Promise<ListedPage> {
  const rowsMax = limit > 0 ? Math.min(limit, LIST_ROWS_MAX) : LIST_ROWS_MAX
  const rows: ListCursor[] = []
  let cursor = readPosition(position)
  do {
    const page = await engine.list({
      ...filter,
      limit: Math.min(LIST_PAGE, rowsMax - rows.length),
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const { createdAt, gid } of page.items) rows.push({ createdAt, gid: gid as Gid })
    cursor = page.cursor
  } while (cursor !== undefined && rows.length < rowsMax)
  const last = rows.at(-1)
  const isFull = rows.length === limit || cursor !== undefined
  return {
    position: isFull && last !== undefined ? writePosition(cursor ?? last) : '',
    transactions: await readAll(engine, rows),
  }
}

async function readAll(engine: EngineApi, rows: readonly ListCursor[]): Promise<ListedPage['transactions']> {
  const shown: ReturnType<typeof shownTransaction>[] = []
  for (let from = 0; from < rows.length; from += READS_AT_ONCE) {
    const some = rows.slice(from, from + READS_AT_ONCE)
    const seen = await Promise.all(some.map(({ gid }) => see(engine, gid)))
    for (const each of seen) if (each !== undefined) shown.push(shownTransaction(each))
  }
  return shown
}

function writePosition({ createdAt, gid }: ListCursor): string {
  return `${createdAt}.${Buffer.from(gid).toString('base64url')}`
}

function readPosition(position: string): ListCursor | undefined {
  if (position === '') return undefined
  const [, createdAt = '', text = ''] = /^(\d{1,15})\.([\w-]+)$/.exec(position) ?? []
  const gid = Buffer.from(text, 'base64url').toString()
  if (createdAt === '' || !isGid(gid)) throw badNumber(position)
  return { createdAt: Number(createdAt), gid }
}
