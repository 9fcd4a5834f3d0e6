import { AssertionError } from '@counterstep/core'
import { shardOf } from './shards.ts'

export function byShard<Item>(
  items: readonly Item[],
  gidOf: (item: Item) => string,
): readonly (readonly [shard: number, items: readonly Item[]])[] {
  const groups = new Map<number, Item[]>()
  for (const item of items) {
    const shard = shardOf(gidOf(item))
    const group = groups.get(shard)
    if (group === undefined) groups.set(shard, [item])
    else group.push(item)
  }
  return [...groups]
}

/**
 * What the shards that could be asked have answered: a node that is down must not stop the others' work. Throws if
 * none has, and for a bug.
 */
export async function answersOf<Answer>(calls: readonly Promise<Answer>[]): Promise<readonly Answer[]> {
  const outcomes = await Promise.allSettled(calls)
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  const bug = failures.find((failure) => failure instanceof AssertionError)
  if (bug !== undefined) throw bug
  if (failures.length > 0 && failures.length === outcomes.length) throw failures[0]
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
}
