// biome-ignore-all lint/performance/noBarrelFile: package.json names this file as an entry, which lists what it exports.

export { WorkflowRefusedError } from '../workflow/workflow-refused-error.ts'
export type { BranchCheck, BranchCheckName, BranchReport, BranchViolation } from './branch-report.ts'
export { renderBranchReport } from './branch-report.ts'
export type { BranchRuleCode } from './branch-rules.ts'
export { BRANCH_RULES } from './branch-rules.ts'
export type { BranchService, FastifyInjector } from './branch-service.ts'
export type { BranchIds, BranchUnderTest } from './branch-under-test.ts'
export { assertBranch, BranchRulesBrokenError, checkBranch } from './check-branch.ts'
export type { Evidence, SentCall } from './evidence.ts'
export type { TrialEntry, WorkflowOutcome, WorkflowTrial } from './run-workflow.ts'
export { runWorkflow } from './run-workflow.ts'
export type { TrialSignal } from './trial-signals.ts'
