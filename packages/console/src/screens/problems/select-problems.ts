import type { ProblemView } from '@counterstep/protocol'

export type ProblemTab = 'attention' | 'retrying'

export interface CountedProblem {
  readonly problem: string
  readonly count: number
  readonly oldestAt: number
}

/** The problems of a tab with the number that belongs to it, the most first. */
export function selectProblems(items: readonly ProblemView[], tab: ProblemTab): readonly CountedProblem[] {
  return items
    .map(({ problem, waiting, attention, oldestAt }) => ({
      problem,
      count: tab === 'attention' ? attention : waiting - attention,
      oldestAt,
    }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)
}

/** Counts the transactions of a tab. */
export function countProblems(items: readonly ProblemView[], tab: ProblemTab): number {
  return selectProblems(items, tab).reduce((sum, { count }) => sum + count, 0)
}
