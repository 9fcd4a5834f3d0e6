import { CounterstepError } from '@counterstep/protocol'
import type { ShardCalls } from './shard-calls.ts'
import { MANY_SHARDS, ONE_SHARD, type Shards } from './shards.ts'

/**
 * How many shards hold the data is told by the data, so that they can move from one server to a cluster or back. New ones
 * have a single shard on one server, where many would only keep rows from sharing a command, and many in a cluster.
 */
export async function readShards(calls: ShardCalls): Promise<Shards> {
  const count = (await calls.command(0, 'get', [calls.keys(0).shardCount])) ?? (await firstCount(calls))
  const shards = [ONE_SHARD, MANY_SHARDS].find((known) => String(known.count) === count)
  if (shards === undefined) {
    throw new CounterstepError('SAGA_STORE_UNSUPPORTED', `its rows are in ${count} shards: a later version's`)
  }
  return shards
}

/** Of two processes at a new store the second takes what the first has written. */
async function firstCount(calls: ShardCalls): Promise<string> {
  const isMany = calls.servers.isCluster || (await isFromBeforeTheCount(calls))
  const count = String((isMany ? MANY_SHARDS : ONE_SHARD).count)
  const written = await calls.command(0, 'set', [calls.keys(0).shardCount, count, 'NX', 'GET'])
  return written === null ? count : String(written)
}

/** Before the count was written there were always many. What stands in the first alone is found either way. */
async function isFromBeforeTheCount(calls: ShardCalls): Promise<boolean> {
  for (const shard of MANY_SHARDS.all.slice(1)) {
    if (Number(await calls.command(shard, 'hlen', [calls.keys(shard).counts])) > 0) return true
  }
  return false
}
