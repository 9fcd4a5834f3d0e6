import type { BranchCheck, BranchCheckName } from './branch-report.ts'
import type { CompleteBranch } from './branch-under-test.ts'
import type { Run, Trial } from './trial.ts'

export interface BranchCheckPlan {
  readonly name: BranchCheckName
  /** The checks that must have passed before: otherwise this one would find the same fault under another name. */
  readonly needs: readonly BranchCheckName[]
  /** Says why it cannot be done with what was given, if so. */
  readonly lacks?: (branch: CompleteBranch) => string | undefined
  readonly examine: (trial: Trial, run: Run) => Promise<void>
}

/** It is undefined for a check that can be done. */
export function whySkipped(
  { needs, lacks }: BranchCheckPlan,
  branch: CompleteBranch,
  before: readonly BranchCheck[],
): string | undefined {
  const missing = before.find(({ name, outcome }) => needs.includes(name) && outcome !== 'passed')
  return lacks?.(branch) ?? (missing && toReason(missing))
}

/**
 * Returns the reason for a skip. If the needed check was skipped itself, its own reason is given, since reasons would
 * nest otherwise. No check that another one needs lacks an option.
 */
function toReason({ name, outcome, because = '' }: BranchCheck): string {
  return outcome === 'skipped' ? because : `${name} did not pass (${because})`
}
