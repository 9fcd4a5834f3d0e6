import { Redis } from 'ioredis'
import type { StoredRow } from '../evidence.ts'
import { kindWord, statusWord } from './row-words.ts'
import { rowsByGid, type StoreBooks } from './store-books.ts'

const KEYS = 'counterstep:{p*}:t:*'
const SCAN_COUNT = 1_000
/** Layout 2, which a row by hand has, has more words at the end. */
const LAYOUTS: readonly unknown[] = ['1', '2']

/** A server without triggers keeps no history of a row: only what it holds in the end. */
export async function readRedisStore(url: string): Promise<StoreBooks> {
  const redis = new Redis(url)
  try {
    const rows: StoredRow[] = []
    let cursor = '0'
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', KEYS, 'COUNT', SCAN_COUNT)
      cursor = next
      const texts = keys.length === 0 ? [] : await redis.mget(keys)
      rows.push(...texts.flatMap((text, index) => (text === null ? [] : [readRow(keys[index] ?? '', text)])))
    } while (cursor !== '0')
    return { rows: rowsByGid(rows) }
  } finally {
    redis.disconnect()
  }
}

const HEAD_WORDS = 11

/** Its first line is words: the layout, the format, the kind, the status and so on, the eleventh whether it needs attention. */
function readRow(key: string, text: string): StoredRow {
  const words = text.split(' ', HEAD_WORDS)
  const [layout, , kind, status] = words
  if (!LAYOUTS.includes(layout))
    throw new Error(`the row of ${key} has a layout that no auditor knows: ${layout}`)
  return {
    gid: key.slice(key.indexOf(':t:') + 3),
    kind: kindWord(kind),
    status: statusWord(status),
    attention: words.at(-1) === '1',
  }
}
