import { AssertionError } from '@counterstep/core'
import type { Shards } from './shards.ts'

/** Of one shard in one script, which holds up everybody else for so long. */
const SCRIPT_ROWS_MAX = 100

/** In their order, in pieces for one script each. */
export function byShard<Item>(
  shards: Shards,
  items: readonly Item[],
  gidOf: (item: Item) => string,
): readonly (readonly [shard: number, items: readonly Item[]])[] {
  const pieces: (readonly [number, Item[]])[] = []
  const open = new Map<number, Item[]>()
  for (const item of items) {
    const shard = shards.of(gidOf(item))
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
