import type { BranchCheck, BranchCheckName } from './branch-report.ts'
import type { CompleteBranch } from './branch-under-test.ts'
import type { Run, Trial } from './trial.ts'

export interface BranchCheckPlan {
  readonly name: BranchCheckName
  /** These checks must have passed before. Otherwise this check would find the same fault under another name. */
  readonly needs: readonly BranchCheckName[]
  /** Returns which option the check lacks, or undefined if it can be done. */
  readonly lacks?: (branch: CompleteBranch) => string | undefined
  readonly examine: (trial: Trial, run: Run) => Promise<void>
}

/** Returns the reason for which a check is skipped, or undefined if it can be done. */
export function findSkipReason(
  { needs, lacks }: BranchCheckPlan,
  branch: CompleteBranch,
  before: readonly BranchCheck[],
): string | undefined {
  const missing = before.find(({ name, outcome }) => needs.includes(name) && outcome !== 'passed')
  return lacks?.(branch) ?? (missing && toReason(missing))
}

/**
 * Returns the reason for a skip. If the needed check was skipped, too, its reason is given, since reasons would nest
 * otherwise. A check that others need never lacks an option.
 */
function toReason({ name, outcome, because = '' }: BranchCheck): string {
  return outcome === 'skipped' ? because : `${name} did not pass (${because})`
}
