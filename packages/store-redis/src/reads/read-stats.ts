import { STATUS_CODES, type StoreStats } from '@counterstep/core'
import { decodeScored } from '../shards/decode-answers.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'
import { findOldestUnfinished } from './oldest-unfinished.ts'
import { readProblems } from './read-problems.ts'

const FIELDS = [
  ...[STATUS_CODES.prepared, STATUS_CODES.submitted, STATUS_CODES.aborting],
  ...['attention', 'paused', 'by-hand'],
]

/** The scripts keep the counts, so reading them does not cost more with more rows. */
export async function readStats(calls: ShardCalls): Promise<StoreStats> {
  const [times, counts, oldest, problems, oldestUnfinishedAt] = await Promise.all([
    calls.times(),
    Promise.all(
      calls.shards.all.map((shard) => calls.command(shard, 'hmget', [calls.keys(shard).counts, ...FIELDS])),
    ),
    Promise.all(
      calls.shards.all.map((shard) =>
        calls.command(shard, 'zrange', [calls.keys(shard).due, 0, 0, 'WITHSCORES']),
      ),
    ),
    readProblems(calls),
    findOldestUnfinished(calls),
  ])
  const sums = FIELDS.map(() => 0)
  for (const shard of counts as readonly (readonly (string | null)[])[]) {
    shard.forEach((count, i) => {
      sums[i] = (sums[i] ?? 0) + Number(count)
    })
  }
  const [prepared = 0, submitted = 0, aborting = 0, attention = 0, paused = 0, byHand = 0] = sums
  const oldestDueAt = Math.min(...oldest.flatMap((answer) => decodeScored(answer).map(([, dueAt]) => dueAt)))
  return {
    now: Math.min(...times.map(({ now }) => now)),
    unfinished: { prepared, submitted, aborting },
    ...{ attention, paused, byHand, problems },
    ...(Number.isFinite(oldestDueAt) && { oldestDueAt }),
    ...(oldestUnfinishedAt !== undefined && { oldestUnfinishedAt }),
  }
}
