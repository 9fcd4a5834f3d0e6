import { AssertionError, type StoredTransaction } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { countWithin, ROWS_BYTES_MAX } from '../links/answer-bound.ts'
import { groupByShard } from '../shards/by-shard.ts'
import { decodeRead } from '../shards/decode-answers.ts'
import { readCall, readSizesCall } from '../shards/encode-calls.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'

interface Sized {
  readonly gid: Gid
  readonly bytes: number
}

/**
 * Reads the rows that exist, in pieces of bounded bytes. It leaves out a row of a later version, so that it does not
 * spoil the others. It is a bug only for a caller that asks for it alone.
 */
export async function readRows(
  calls: ShardCalls,
  gids: readonly Gid[],
): Promise<readonly StoredTransaction[]> {
  if (gids.length === 1) return (await readPiece(calls, gids)).map((row) => assertReadable(row, gids[0]))
  const sized = await readSizes(calls, gids)
  const rows: StoredTransaction[] = []
  while (sized.length > 0) {
    const count = countWithin(
      sized.map(({ bytes }) => bytes),
      ROWS_BYTES_MAX,
    )
    const piece = sized.splice(0, count)
    const found = await readPiece(
      calls,
      piece.map(({ gid }) => gid),
    )
    rows.push(...found.filter((row) => row !== undefined))
  }
  return rows
}

function assertReadable(row: StoredTransaction | undefined, gid: Gid | undefined): StoredTransaction {
  if (row === undefined) throw new AssertionError(`the row of ${gid} cannot be read by this version`)
  return row
}

async function readSizes(calls: ShardCalls, gids: readonly Gid[]): Promise<Sized[]> {
  const pieces = groupByShard(calls.shards, gids, (gid) => gid).map(async ([shard, mine]) => {
    const sizes = (await calls.script(
      shard,
      'sizes',
      readSizesCall(calls.keys(shard), mine),
    )) as readonly number[]
    return mine.map((gid, i) => ({ gid, bytes: sizes[i] ?? 0 }))
  })
  return (await Promise.all(pieces)).flat()
}

async function readPiece(
  calls: ShardCalls,
  gids: readonly Gid[],
): Promise<readonly (StoredTransaction | undefined)[]> {
  const reads = groupByShard(calls.shards, gids, (gid) => gid).map(async ([shard, mine]) =>
    decodeRead(mine, await calls.script(shard, 'read', readCall(calls.keys(shard), mine))),
  )
  return (await Promise.all(reads)).flat()
}
