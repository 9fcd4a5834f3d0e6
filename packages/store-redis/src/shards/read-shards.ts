import { CounterstepError } from '@counterstep/protocol'
import type { ShardCalls } from './shard-calls.ts'
import { MANY_SHARDS, ONE_SHARD, type Shards } from './shards.ts'

/**
 * Reads the number of shards from the data, so that the data can move from one server to a cluster or back. A new store
 * has many shards in a cluster and one on a single server, where many would only keep rows from sharing a command. Throws
 * SAGA_STORE_UNSUPPORTED if it cannot know where the rows are.
 */
export async function readShards(calls: ShardCalls): Promise<Shards> {
  // In a cluster these keys are in many slots, so one command cannot ask for them, and there are many shards anyway.
  const isSpread = !calls.servers.isCluster && (await isAnyBeyondTheFirst(calls))
  const { shardCount } = calls.keys(0)
  const first = calls.servers.isCluster || isSpread ? MANY_SHARDS : ONE_SHARD
  const count = (await calls.command(0, 'get', [shardCount])) ?? (await writeFirstCount(calls, first))
  const shards = [ONE_SHARD, MANY_SHARDS].find((known) => String(known.count) === count)
  if (shards === undefined) throw unsupportedError(`${shardCount} is ${count}: a later version's`)
  if (shards === ONE_SHARD && isSpread) {
    throw unsupportedError(
      `${shardCount} is 1, and rows are in other shards: an older version has written beside this one`,
    )
  }
  return shards
}

/** If two processes open a new store at once, the second takes the number that the first has written. */
async function writeFirstCount(calls: ShardCalls, { count }: Shards): Promise<string> {
  const written = await calls.command(0, 'set', [calls.keys(0).shardCount, String(count), 'NX', 'GET'])
  return String(written ?? count)
}

/** Older versions wrote no count and always had many shards. */
async function isAnyBeyondTheFirst(calls: ShardCalls): Promise<boolean> {
  const others = MANY_SHARDS.all.slice(1).map((shard) => calls.keys(shard).counts)
  return Number(await calls.command(0, 'exists', others)) > 0
}

function unsupportedError(message: string): CounterstepError {
  return new CounterstepError('SAGA_STORE_UNSUPPORTED', message)
}
