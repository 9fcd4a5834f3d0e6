import { BranchError } from '../branch/branch-errors.ts'

/** Returns the results of `apply` if there is one for each of `count` calls, and throws otherwise. */
export function checkResults(results: unknown, count: number): readonly unknown[] {
  if (Array.isArray(results) && results.length === count) return results
  const message = `apply must return an array of ${count} results, one for each call`
  throw new BranchError('BRANCH_RESULTS_INVALID', message)
}
