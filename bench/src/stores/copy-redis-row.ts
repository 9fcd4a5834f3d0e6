import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import { earlierMs, splitCopies } from './copied-rows.ts'

const PART_ROWS = 6_400
const SCRIPT_ROWS_MAX = 100
const SCRIPT = readFileSync(new URL('./copy-redis-row.lua', import.meta.url), 'utf8')
/** The places of the instants in a row's head: created, updated, purged. */
const FIRST_INSTANT = 11
const AFTER_INSTANTS = 14

export async function copyRedisRow(
  link: Redis,
  copies: number,
  onCopied: (count: number) => void,
): Promise<void> {
  const original = await readOriginal(link)
  const { firstMs, stepMs } = earlierMs(copies)
  for (const { from, to } of splitCopies(copies, PART_ROWS)) {
    const part = Array.from({ length: to - from + 1 }, (_, i) =>
      makeCopy(original, firstMs - (from + i) * stepMs),
    )
    const scripts = [...splitCopies(part.length, SCRIPT_ROWS_MAX)].map((rows) =>
      writeCopies(link, original, part.slice(rows.from - 1, rows.to)),
    )
    await Promise.all(scripts)
    onCopied(to)
  }
}

interface Original {
  /** The prefix of its keys and of its copies' keys: on one server all rows are in one shard. */
  readonly base: string
  /** The row's text before its instants and after them. */
  readonly before: string
  readonly after: string
  readonly instants: readonly number[]
  readonly definition: string
}

interface Copy {
  readonly gid: string
  readonly instants: readonly number[]
}

async function readOriginal(link: Redis): Promise<Original> {
  const keys = (await link.keys('*:t:*')).map((key) => /^(.*:\{p0\}):t:(.*)$/.exec(key))
  const [key] = keys
  if (keys.length !== 1 || key === undefined || key === null) {
    throw new Error(`there must be one transaction to copy, in the first shard, not ${keys.length}`)
  }
  const [rowKey, base = '', gid = ''] = key
  const row = (await link.get(rowKey)) ?? ''
  const definition = await link.get(`${base}:d:${gid}`)
  if (definition === null) throw new Error(`${gid} has no definition`)
  const headEnd = row.indexOf('\n')
  const head = row.slice(0, headEnd).split(' ')
  return {
    base,
    before: `${head.slice(0, FIRST_INSTANT).join(' ')} `,
    after: ` ${head.slice(AFTER_INSTANTS).join(' ')}${row.slice(headEnd)}`,
    instants: head.slice(FIRST_INSTANT, AFTER_INSTANTS).map(Number),
    definition,
  }
}

function makeCopy({ instants }: Original, earlier: number): Copy {
  const moved = instants.map((instant) => instant - earlier)
  // UUIDv7: time first, as the server draws them.
  const time = (moved[0] ?? 0).toString(16).padStart(12, '0')
  return { gid: `${time}7${randomBytes(12).toString('hex').slice(1)}`, instants: moved }
}

async function writeCopies(
  link: Redis,
  { base, before, after, definition }: Original,
  copies: readonly Copy[],
): Promise<void> {
  const keys = copies.flatMap(({ gid }) => [`${base}:t:${gid}`, `${base}:d:${gid}`])
  const values = copies.flatMap(({ gid, instants }) => [gid, ...instants])
  const all = [`${base}:created`, `${base}:done`, ...keys]
  await link.eval(SCRIPT, all.length, ...all, before, after, definition, ...values)
}
