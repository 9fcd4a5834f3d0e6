import type { ListCursor } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { groupByShard } from '../shards/by-shard.ts'
import { decodeHeads } from '../shards/decode-answers.ts'
import { readHeadsCall } from '../shards/encode-calls.ts'
import type { RowHead } from '../shards/row-text.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'

/** Bounds a script. While one runs in the server the answer of the one before is decoded here. */
const HEADS_AT_ONCE = 500

/** Returns the heads of the rows that are there and can be read. */
export async function readHeads(
  calls: ShardCalls,
  rows: readonly Pick<ListCursor, 'gid'>[],
): Promise<ReadonlyMap<Gid, RowHead>> {
  const found = new Map<Gid, RowHead>()
  const groups = groupByShard(calls.shards, rows, ({ gid }) => gid).flatMap(([shard, mine]) =>
    chunk(mine, HEADS_AT_ONCE).map((some) => [shard, some] as const),
  )
  const reads = groups.map(async ([shard, some]) => {
    const gids = some.map(({ gid }) => gid)
    const answer = await calls.script(shard, 'readHeads', readHeadsCall(calls.keys(shard), gids))
    const heads = decodeHeads(gids, answer)
    gids.forEach((gid, i) => {
      const head = heads[i]
      if (head !== undefined) found.set(gid, head)
    })
  })
  await Promise.all(reads)
  return found
}

function chunk<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, i) => items.slice(i * size, (i + 1) * size))
}
