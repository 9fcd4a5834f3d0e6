import { foldProblems, type StoredProblem } from '@counterstep/core'
import { readProblemsCall } from '../shards/encode-calls.ts'
import { decodeText } from '../shards/more-words.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'
import { decodeWaiting } from './waiting-member.ts'

/** Bounds a script, because Redis serves no other command while it runs. */
const PROBLEMS_AT_ONCE = 500
/** Such a field counts the rows of a problem that have attention. */
const ATTENTION_FIELD = '! '
const WORDS = 3

/** Reads the counts of each problem in each shard, and the oldest of its rows. */
export async function readProblems(calls: ShardCalls): Promise<readonly StoredProblem[]> {
  const found = await Promise.all(calls.shards.all.map((shard) => readShard(calls, shard)))
  return foldProblems(found.flat())
}

async function readShard(calls: ShardCalls, shard: number): Promise<readonly StoredProblem[]> {
  const fields = (await calls.command(shard, 'hkeys', [calls.keys(shard).problems])) as readonly string[]
  const words = fields.filter((field) => !field.startsWith(ATTENTION_FIELD))
  const counts: StoredProblem[] = []
  for (let from = 0; from < words.length; from += PROBLEMS_AT_ONCE) {
    const some = words.slice(from, from + PROBLEMS_AT_ONCE)
    const answer = await calls.script(shard, 'readProblems', readProblemsCall(calls.keys(shard), some))
    const values = answer as readonly string[]
    counts.push(...some.flatMap((word, i) => toProblem(word, values.slice(i * WORDS, (i + 1) * WORDS)) ?? []))
  }
  return counts
}

/** Returns nothing for a problem whose last row has gone since its name was read. */
function toProblem(
  word: string,
  [waiting, attention, oldest = '']: readonly string[],
): StoredProblem | undefined {
  const problem = decodeText(word)
  if (problem === undefined || oldest === '' || Number(waiting) <= 0) return undefined
  return {
    ...{ problem, waiting: Number(waiting), attention: Number(attention) },
    oldestAt: decodeWaiting(oldest).createdAt,
  }
}
