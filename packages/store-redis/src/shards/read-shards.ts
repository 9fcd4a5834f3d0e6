import { CounterstepError } from '@counterstep/protocol'
import type { ShardCalls } from './shard-calls.ts'
import { MANY_SHARDS, ONE_SHARD, type Shards } from './shards.ts'

/**
 * How many shards hold the rows is told by the data, so that they can move from one server to a cluster or back. New ones
 * have a single shard on one server, where many would only keep rows from sharing a command, and many in a cluster.
 * Throws SAGA_STORE_UNSUPPORTED where it is not known where the rows are.
 */
export async function readShards(calls: ShardCalls): Promise<Shards> {
  // In a cluster these keys are of many slots, and their rows those of many shards anyway.
  const isSpread = !calls.servers.isCluster && (await isAnyBeyondTheFirst(calls))
  const { shardCount } = calls.keys(0)
  const first = calls.servers.isCluster || isSpread ? MANY_SHARDS : ONE_SHARD
  const count = (await calls.command(0, 'get', [shardCount])) ?? (await countOfFirst(calls, first))
  const shards = [ONE_SHARD, MANY_SHARDS].find((known) => String(known.count) === count)
  if (shards === undefined) throw unsupported(`${shardCount} is ${count}: a later version's`)
  if (shards === ONE_SHARD && isSpread) {
    throw unsupported(
      `${shardCount} is 1, and rows are in other shards: an older version has written beside this one`,
    )
  }
  return shards
}

/** Of two processes at a new store the second takes what the first has written. */
async function countOfFirst(calls: ShardCalls, { count }: Shards): Promise<string> {
  const written = await calls.command(0, 'set', [calls.keys(0).shardCount, String(count), 'NX', 'GET'])
  return String(written ?? count)
}

/** Before the count was written there were always many shards. */
async function isAnyBeyondTheFirst(calls: ShardCalls): Promise<boolean> {
  const others = MANY_SHARDS.all.slice(1).map((shard) => calls.keys(shard).counts)
  return Number(await calls.command(0, 'exists', others)) > 0
}

function unsupported(message: string): CounterstepError {
  return new CounterstepError('SAGA_STORE_UNSUPPORTED', message)
}
