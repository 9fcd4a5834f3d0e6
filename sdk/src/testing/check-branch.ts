import { type BranchCheckPlan, findSkipReason } from './branch-check.ts'
import {
  type BranchCheck,
  type BranchReport,
  type BranchViolation,
  renderBranchReport,
  toViolation,
} from './branch-report.ts'
import { openService } from './branch-service.ts'
import { type BranchUnderTest, withDefaults } from './branch-under-test.ts'
import { concurrentDuplicates, duplicates, lateDuplicates } from './checks/duplicates.ts'
import { brokenPayload, outage } from './checks/errors.ts'
import { garbage } from './checks/garbage.ts'
import { oneActionAndItsCompensation, twoGids } from './checks/one-action.ts'
import { actionAfterCompensation, actionAgainstCompensation, compensationFirst } from './checks/order.ts'
import { payloads } from './checks/payloads.ts'
import { drained, keptRefusal, refusal, spent } from './checks/refusal.ts'
import { twoBranches } from './checks/two-branches.ts'
import { NOTHING } from './state-change.ts'
import { type Run, Trial } from './trial.ts'
import { NoAnswer, RuleBroken, Undecided } from './verdict.ts'

const CHECKS: readonly BranchCheckPlan[] = [
  oneActionAndItsCompensation,
  twoGids,
  duplicates,
  concurrentDuplicates,
  compensationFirst,
  actionAfterCompensation,
  actionAgainstCompensation,
  twoBranches,
  refusal,
  keptRefusal,
  payloads,
  brokenPayload,
  garbage,
  outage,
  lateDuplicates,
  spent,
  drained,
]

/**
 * Sends a service what production will send it (duplicates, alone and at once; a compensation before its action, and an
 * action after its compensation; both at once; refusals, and whether one that nothing undoes is kept; large and broken
 * payloads; garbage), checks how the state has changed, and reports which rule was broken. It makes about a hundred calls,
 * one check after the other. It needs no test framework.
 *
 * A fault is reported once, under the code of its rule: the checks that would only find it again are skipped. A slow
 * service is no fault. Rejects with what `read`, `spend`, `drain` or `outage` throw, and with a TypeError for wrong
 * options, but never because of the service.
 *
 * @example
 * ```ts
 * import { checkBranch, renderBranchReport } from '@counterstep/sdk/testing'
 *
 * const report = await checkBranch({
 *   service: { url: 'http://127.0.0.1:3000' },
 *   action: '/debit',
 *   compensation: '/debit-undo',
 *   payload: { account: 'alice', cents: 100 },
 *   read: async () => (await fetch('http://127.0.0.1:3000/accounts/alice')).json(),
 *   refusedPayload: { account: 'alice', cents: 1_000_000_000 },
 * })
 * console.log(renderBranchReport(report))
 * process.exitCode = report.ok ? 0 : 1
 * ```
 */
export async function checkBranch(branch: BranchUnderTest): Promise<BranchReport> {
  const complete = withDefaults(branch)
  const service = await openService(complete.service)
  const checks: BranchCheck[] = []
  const violations: BranchViolation[] = []
  const nothing = { text: NOTHING, isCountable: false }
  const run: Run = {
    branch: complete,
    service,
    startedAt: performance.now(),
    learned: { once: nothing, undo: nothing, both: nothing, lagMs: 0 },
    hasPassed: (name) => checks.some((check) => check.name === name && check.outcome === 'passed'),
  }
  try {
    for (const plan of CHECKS) {
      const { check, violation } = await examined(plan, run, checks)
      checks.push(check)
      if (violation !== undefined) violations.push(violation)
    }
  } finally {
    await service.close()
  }
  const isDecided = checks.every(({ outcome }) => outcome !== 'undecided')
  return { ok: violations.length === 0 && isDecided, violations, checks }
}

/**
 * `checkBranch` for a test: rejects with {@link BranchRulesBrokenError} unless the report is `ok`.
 *
 * @example
 * ```ts
 * import { test } from 'node:test'
 * import { assertBranch } from '@counterstep/sdk/testing'
 *
 * test('the debit is a safe participant', { timeout: 120_000 }, () => assertBranch(debit))
 * ```
 */
export async function assertBranch(branch: BranchUnderTest): Promise<BranchReport> {
  const report = await checkBranch(branch)
  if (!report.ok) throw new BranchRulesBrokenError(report)
  return report
}

/**
 * This is the error of `assertBranch`. Its message is the report as text.
 *
 * @example
 * ```ts
 * await assert.rejects(assertBranch(naive), (error: BranchRulesBrokenError) => error.report.violations.length === 1)
 * ```
 */
export class BranchRulesBrokenError extends Error {
  readonly report: BranchReport

  constructor(report: BranchReport) {
    const codes = [...new Set(report.violations.map(({ code }) => code))]
    const title =
      codes.length === 0 ? 'the branch could not be judged' : `the branch broke ${codes.join(', ')}`
    super(`${title}\n\n${renderBranchReport(report)}`)
    this.name = 'BranchRulesBrokenError'
    this.report = report
  }
}

interface Examined {
  readonly check: BranchCheck
  readonly violation?: BranchViolation
}

async function examined(plan: BranchCheckPlan, run: Run, before: readonly BranchCheck[]): Promise<Examined> {
  const { name } = plan
  const because = findSkipReason(plan, run.branch, before)
  if (because !== undefined) return { check: { name, outcome: 'skipped', because, evidence: [] } }
  const trial = new Trial(run)
  const { evidence } = trial
  const seen = await findVerdict(() => plan.examine(trial, run))
  // The tidying is skipped after `NoAnswer`, since the kit would only wait again for a service that does not answer.
  const tidied = seen instanceof NoAnswer ? undefined : await findVerdict(() => trial.tidyUp())
  const verdict = seen ?? tidied
  if (verdict === undefined) return { check: { name, outcome: 'passed', evidence } }
  const { message } = verdict
  if (verdict instanceof Undecided) {
    return { check: { name, outcome: 'undecided', because: message, evidence } }
  }
  const { code } = verdict
  return {
    check: { name, outcome: 'broken', because: code, evidence },
    violation: toViolation(name, { code, found: message, evidence }),
  }
}

async function findVerdict(work: () => Promise<void>): Promise<RuleBroken | Undecided | undefined> {
  try {
    await work()
    return undefined
  } catch (error: unknown) {
    if (error instanceof RuleBroken || error instanceof Undecided) return error
    throw error
  }
}
