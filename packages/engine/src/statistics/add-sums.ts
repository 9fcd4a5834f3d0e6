import { BUCKETS } from './histogram.ts'
import { COUNTS } from './node-statistics.ts'
import type { PartSums } from './node-sums.ts'

const COLUMNS = COUNTS + BUCKETS

/** Adds counts that stand at the same places. */
export function addCounts(all: readonly (readonly number[])[], columns = COLUMNS): number[] {
  const sum = Array<number>(columns).fill(0)
  for (const counts of all)
    for (let at = 0; at < columns; at++) sum[at] = (sum[at] as number) + (counts[at] ?? 0)
  return sum
}

/** Adds up the counts of each minute. The oldest minute comes first. */
export function addMinutes(all: readonly PartSums['minutes'][]): PartSums['minutes'] {
  const byMinute = new Map<number, (readonly number[])[]>()
  for (const minutes of all) {
    for (const [minute, counts] of minutes) {
      const others = byMinute.get(minute)
      if (others === undefined) byMinute.set(minute, [counts])
      else others.push(counts)
    }
  }
  const sums = Array.from(byMinute, ([minute, counts]) => [minute, addCounts(counts, COUNTS)] as const)
  return sums.sort(([one], [other]) => one - other)
}

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
    minutes: addMinutes([left.minutes, right.minutes]),
    short: addCounts([left.short, right.short]),
    hour: addCounts([left.hour, right.hour]),
  }
}
