import { AssertionError } from '@counterstep/core'
import type { Shards } from './shards.ts'

/** Bounds the rows of one script, because Redis serves no other command while a script runs. */
const SCRIPT_ROWS_MAX = 100

/** Divides the items, in their order, into pieces of one shard for one script each. */
export function groupByShard<Item>(
  shards: Shards,
  items: readonly Item[],
  readGid: (item: Item) => string,
): readonly (readonly [shard: number, items: readonly Item[]])[] {
  const pieces: (readonly [number, Item[]])[] = []
  const open = new Map<number, Item[]>()
  for (const item of items) {
    const shard = shards.toShard(readGid(item))
    const piece = open.get(shard)
    if (piece !== undefined && piece.length < SCRIPT_ROWS_MAX) {
      piece.push(item)
      continue
    }
    const next = [item]
    open.set(shard, next)
    pieces.push([shard, next])
  }
  return pieces
}

/**
 * Returns the answers of the shards that could be asked, since a node that is down must not stop the others' work. Throws
 * if there is no answer at all, and for a bug.
 */
export async function collectAnswers<Answer>(calls: readonly Promise<Answer>[]): Promise<readonly Answer[]> {
  const outcomes = await Promise.allSettled(calls)
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  const bug = failures.find((failure) => failure instanceof AssertionError)
  if (bug !== undefined) throw bug
  if (failures.length > 0 && failures.length === outcomes.length) throw failures[0]
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
}
