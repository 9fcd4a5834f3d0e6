import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import { earlierMs, partsOf } from './copied-rows.ts'
import { redisShardOf } from './redis-shard.ts'

const PART_ROWS = 6_400
const SCRIPT = readFileSync(new URL('./copy-redis-row.lua', import.meta.url), 'utf8')
/** Where in a row's head its instants are: created, updated, purged. */
const FIRST_INSTANT = 11
const AFTER_INSTANTS = 14

export async function copyRedisRow(
  link: Redis,
  copies: number,
  onCopied: (count: number) => void,
): Promise<void> {
  const original = await readOriginal(link)
  const { firstMs, stepMs } = earlierMs(copies)
  for (const { from, to } of partsOf(copies, PART_ROWS)) {
    const shards = new Map<number, Copy[]>()
    for (let number = from; number <= to; number += 1) {
      const copy = copyOf(original, firstMs - number * stepMs)
      const shard = redisShardOf(copy.gid)
      shards.set(shard, [...(shards.get(shard) ?? []), copy])
    }
    await Promise.all([...shards].map(([shard, each]) => writeCopies(link, original, shard, each)))
    onCopied(to)
  }
}

interface Original {
  readonly keyPrefix: string
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
  const keys = (await link.keys('*:t:*')).map((key) => /^(.*):\{p\d+\}:t:(.*)$/.exec(key))
  const [key] = keys
  if (keys.length !== 1 || key === undefined || key === null) {
    throw new Error(`there must be one transaction to copy, not ${keys.length}`)
  }
  const [rowKey, keyPrefix = '', gid = ''] = key
  const row = (await link.get(rowKey)) ?? ''
  const definition = await link.get(`${baseOf(keyPrefix, redisShardOf(gid))}:d:${gid}`)
  if (definition === null) throw new Error(`${gid} has no definition under its shard`)
  const headEnd = row.indexOf('\n')
  const head = row.slice(0, headEnd).split(' ')
  return {
    keyPrefix,
    before: `${head.slice(0, FIRST_INSTANT).join(' ')} `,
    after: ` ${head.slice(AFTER_INSTANTS).join(' ')}${row.slice(headEnd)}`,
    instants: head.slice(FIRST_INSTANT, AFTER_INSTANTS).map(Number),
    definition,
  }
}

function copyOf({ instants }: Original, earlier: number): Copy {
  const moved = instants.map((instant) => instant - earlier)
  // UUIDv7: time first, as the server draws them.
  const time = (moved[0] ?? 0).toString(16).padStart(12, '0')
  return { gid: `${time}7${randomBytes(12).toString('hex').slice(1)}`, instants: moved }
}

async function writeCopies(
  link: Redis,
  { keyPrefix, before, after, definition }: Original,
  shard: number,
  copies: readonly Copy[],
): Promise<void> {
  const base = baseOf(keyPrefix, shard)
  const keys = copies.flatMap(({ gid }) => [`${base}:t:${gid}`, `${base}:d:${gid}`])
  const values = copies.flatMap(({ gid, instants }) => [gid, ...instants])
  const all = [`${base}:created`, `${base}:done`, ...keys]
  await link.eval(SCRIPT, all.length, ...all, before, after, definition, ...values)
}

function baseOf(keyPrefix: string, shard: number): string {
  return `${keyPrefix}:{p${shard}}`
}
