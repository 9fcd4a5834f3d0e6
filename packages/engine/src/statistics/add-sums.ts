import { BUCKETS } from './histogram.ts'
import { COUNTS } from './node-statistics.ts'
import type { PartSums } from './node-sums.ts'

/** Adds counts that stand at the same places. */
export function addCounts(left: readonly number[], right: readonly number[]): number[] {
  return Array.from(
    { length: Math.max(left.length, right.length) },
    (_, at) => (left[at] ?? 0) + (right[at] ?? 0),
  )
}

/** These counts of no one. */
export const NOTHING: readonly number[] = Array<number>(COUNTS + BUCKETS).fill(0)

/** Adds up sums of several nodes, or of several keys. `toKey` says what belongs together; the first key and part stay. */
export function addSums(
  all: Iterable<PartSums>,
  toKey: (sums: PartSums) => string = ({ key, part }) => `${part} ${key}`,
): readonly PartSums[] {
  const added = new Map<string, PartSums>()
  for (const sums of all) {
    const key = toKey(sums)
    const before = added.get(key)
    added.set(key, before === undefined ? sums : addTwo(before, sums))
  }
  return [...added.values()]
}

function addTwo(left: PartSums, right: PartSums): PartSums {
  return {
    ...left,
    minutes: addMinutes(left.minutes, right.minutes),
    short: addCounts(left.short, right.short),
    hour: addCounts(left.hour, right.hour),
  }
}

export function addMinutes(left: PartSums['minutes'], right: PartSums['minutes']): PartSums['minutes'] {
  const added = new Map(left)
  for (const [minute, counts] of right) added.set(minute, addCounts(added.get(minute) ?? [], counts))
  return [...added].sort(([one], [other]) => one - other)
}
