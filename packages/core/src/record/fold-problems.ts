import { PROBLEMS_MAX } from '@counterstep/protocol'
import type { StoredProblem } from '../ports/store.ts'

/** The name under which the rarer problems are counted together. */
export const OTHER_PROBLEMS = 'other'

/**
 * Adds up the counts that have the same text, and puts the most frequent first. Those beyond PROBLEMS_MAX become one, called
 * `other`, at the end.
 */
export function foldProblems(counts: Iterable<StoredProblem>): readonly StoredProblem[] {
  const byText = new Map<string, StoredProblem>()
  for (const count of counts) byText.set(count.problem, addCounts(byText.get(count.problem), count))
  const sorted = [...byText.values()].sort(compareProblems)
  const rest = sorted
    .slice(PROBLEMS_MAX)
    .reduce<StoredProblem | undefined>(
      (sum, count) => addCounts(sum, { ...count, problem: OTHER_PROBLEMS }),
      undefined,
    )
  return rest === undefined ? sorted : [...sorted.slice(0, PROBLEMS_MAX), rest]
}

function addCounts(sum: StoredProblem | undefined, count: StoredProblem): StoredProblem {
  if (sum === undefined) return count
  return {
    problem: count.problem,
    waiting: sum.waiting + count.waiting,
    attention: sum.attention + count.attention,
    oldestAt: Math.min(sum.oldestAt, count.oldestAt),
  }
}

function compareProblems(a: StoredProblem, b: StoredProblem): number {
  if (a.waiting !== b.waiting) return b.waiting - a.waiting
  return a.problem < b.problem ? -1 : 1
}
