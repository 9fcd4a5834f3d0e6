import type { BranchCheck, BranchCheckName } from './branch-report.ts'
import type { CompleteBranch } from './branch-under-test.ts'
import type { Run, Trial } from './trial.ts'

export interface BranchCheckPlan {
  readonly name: BranchCheckName
  /** What has to have passed: else this one would find the same fault under another name. */
  readonly needs: readonly BranchCheckName[]
  /** Why it cannot be done with what was given, if so. */
  readonly lacks?: (branch: CompleteBranch) => string | undefined
  readonly examine: (trial: Trial, run: Run) => Promise<void>
}

/** Undefined for a check that can be done. */
export function whySkipped(
  { needs, lacks }: BranchCheckPlan,
  branch: CompleteBranch,
  before: readonly BranchCheck[],
): string | undefined {
  const missing = before.find(({ name, outcome }) => needs.includes(name) && outcome !== 'passed')
  return lacks?.(branch) ?? (missing && toReason(missing))
}

/** Where the needed check was skipped itself, its own reason: else the reasons nest. None that is needed lacks an option. */
function toReason({ name, outcome, because = '' }: BranchCheck): string {
  return outcome === 'skipped' ? because : `${name} did not pass (${because})`
}
