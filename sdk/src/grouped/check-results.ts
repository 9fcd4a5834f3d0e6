import { isThenable } from '../barrier/thenable.ts'
import { BranchError } from '../branch/branch-errors.ts'

/**
 * Returns the results of `apply` if there is one for each of `count` calls, and throws otherwise. A promise is no result: the
 * transaction would be committed before it settles.
 */
export function checkResults(results: unknown, count: number): readonly unknown[] {
  if (Array.isArray(results) && results.length === count) {
    if (!results.some(isThenable)) return results
    // Those that reject later concern a transaction that is rolled back. A query of a query builder would run if it were awaited.
    void Promise.allSettled(results.filter((result) => result instanceof Promise))
    throw new BranchError(
      'BRANCH_RESULTS_INVALID',
      'a result of apply is a promise: return await Promise.all(…)',
    )
  }
  const message = `apply must return an array of ${count} results, one for each call`
  throw new BranchError('BRANCH_RESULTS_INVALID', message)
}
