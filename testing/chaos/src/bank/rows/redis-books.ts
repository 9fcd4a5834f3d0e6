import { Redis } from 'ioredis'
import { readAppendOnlyFile } from './read-append-only-file.ts'
import { kindWord, statusWord } from './row-words.ts'
import { type StoreBooks, toStoreBooks } from './store-books.ts'

const KEYS = 'counterstep:{p*}:t:*'
const KEY = /^counterstep:\{p\d+\}:t:(.*)$/s
const SCAN_COUNT = 1_000
/** Layout 2, which a row by hand has, has more words at the end. */
const LAYOUTS: readonly unknown[] = ['1', '2']

/**
 * Reads the rows as they are, and the history of each from the file to which the server appends every write. The server has
 * answered no write before it was there, and has never written the file anew.
 */
export async function readRedisStore(url: string): Promise<StoreBooks> {
  const redis = new Redis(url)
  try {
    const rows: KeptRow[] = []
    let cursor = '0'
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', KEYS, 'COUNT', SCAN_COUNT)
      cursor = next
      const texts = keys.length === 0 ? [] : await redis.mget(keys)
      rows.push(...texts.flatMap((text, index) => (text === null ? [] : [readRow(keys[index] ?? '', text)])))
    } while (cursor !== '0')
    const writes: KeptRow[] = []
    for await (const command of readAppendOnlyFile(await findFolder(redis))) writes.push(...listRows(command))
    return toStoreBooks(rows, writes)
  } finally {
    redis.disconnect()
  }
}

async function findFolder(redis: Redis): Promise<string> {
  const [, folder] = (await redis.config('GET', 'dir')) as readonly string[]
  if (folder === undefined) throw new Error('the server does not say where its files are')
  return folder
}

/** Lists the rows that one command has written. */
function listRows([name, ...words]: readonly string[]): readonly KeptRow[] {
  if (name !== 'SET' && name !== 'MSETNX') return []
  return words.flatMap((key, index) => (KEY.test(key) ? [readRow(key, words[index + 1] ?? '')] : []))
}

type KeptRow = ReturnType<typeof readRow>

const HEAD_WORDS = 13

/**
 * Its first line is words: the layout, the format, the kind, the status and so on, the sixth the epoch, the eleventh whether it
 * needs attention, and the thirteenth the instant of this write.
 */
function readRow(key: string, text: string) {
  const [layout, , kind, status, , epoch, , , , , attention, , at] = text.split(' ', HEAD_WORDS)
  if (!LAYOUTS.includes(layout))
    throw new Error(`the row of ${key} has a layout that no auditor knows: ${layout}`)
  return {
    gid: KEY.exec(key)?.[1] ?? '',
    kind: kindWord(kind),
    status: statusWord(status),
    attention: attention === '1',
    epoch: Number(epoch),
    at: Number(at),
    ...(kindWord(kind) === 'workflow' ? readRecord(text.slice(text.indexOf('\n') + 1)) : {}),
  }
}

/** The part of a record that names the steps. It is absent until a plan was accepted. */
interface StepsRecord {
  readonly w?: {
    readonly steps: readonly { readonly branch: { readonly id: string } }[]
    readonly granted?: number
  }
}

function readRecord(progress: string) {
  const { w } = JSON.parse(progress) as StepsRecord
  return { steps: w?.steps.map(({ branch }) => branch.id), lastSlot: w?.granted }
}
