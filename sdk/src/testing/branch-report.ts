import { BRANCH_RULES, type BranchRuleCode } from './branch-rules.ts'
import { type Evidence, renderEvidence } from './evidence.ts'

/**
 * The checks, in the order in which they run.
 *
 * @example
 * ```ts
 * const undecided = report.checks.filter((check) => check.outcome === 'undecided').map((check) => check.name)
 * ```
 */
export type BranchCheckName =
  | 'one-action-and-its-compensation'
  | 'two-gids'
  | 'duplicates'
  | 'concurrent-duplicates'
  | 'compensation-first'
  | 'action-after-compensation'
  | 'action-against-compensation'
  | 'two-branches'
  | 'refusal'
  | 'kept-refusal'
  | 'payloads'
  | 'broken-payload'
  | 'garbage'
  | 'outage'
  | 'late-duplicates'
  | 'spent'
  | 'drained'

/**
 * This is a rule that the service broke.
 *
 * @example
 * ```ts
 * const { code, rule, found, evidence }: BranchViolation = report.violations[0]
 * ```
 */
export interface BranchViolation {
  /** The code is stable. */
  readonly code: BranchRuleCode
  /** This is the rule, in words. */
  readonly rule: string
  readonly check: BranchCheckName
  /** This is the observation that breaks the rule. */
  readonly found: string
  /** All that the check sent and saw, in order. */
  readonly evidence: readonly Evidence[]
}

/**
 * The outcome of one check. `skipped`: a check on which this one builds did not pass, or an option that it needs was
 * not given. `undecided`: there was no answer in time, or a given function did not do its part.
 *
 * @example
 * ```ts
 * for (const { name, outcome, because } of report.checks) console.log(name, outcome, because ?? '')
 * ```
 */
export interface BranchCheck {
  readonly name: BranchCheckName
  readonly outcome: 'passed' | 'broken' | 'skipped' | 'undecided'
  /** The reason why the check did not pass. */
  readonly because?: string
  readonly evidence: readonly Evidence[]
}

/**
 * These are the findings of the kit.
 *
 * @example
 * ```ts
 * const report: BranchReport = await checkBranch(debit)
 * if (!report.ok) console.error(renderBranchReport(report))
 * ```
 */
export interface BranchReport {
  /**
   * No rule was broken, and nothing is undecided. A check that was skipped because its option was not given does not
   * count.
   */
  readonly ok: boolean
  readonly violations: readonly BranchViolation[]
  readonly checks: readonly BranchCheck[]
}

/**
 * The report as text: each broken rule with its evidence, then one line for each check.
 *
 * @example
 * ```ts
 * console.log(renderBranchReport(await checkBranch(debit)))
 * ```
 */
export function renderBranchReport({ violations, checks }: BranchReport): string {
  return [
    ...violations.flatMap(({ code, rule, check, found, evidence }) => [
      `${code} (${check})`,
      `  The rule: ${rule}`,
      `  Found: ${found}.`,
      ...renderEvidence(evidence).map((line) => `  ${line}`),
      '',
    ]),
    ...checks.map(({ name, outcome, because }) =>
      because === undefined ? `${outcome} ${name}` : `${outcome} ${name}: ${because}`,
    ),
  ].join('\n')
}

export function toViolation(
  check: BranchCheckName,
  { code, found, evidence }: Pick<BranchViolation, 'code' | 'found' | 'evidence'>,
): BranchViolation {
  return { code, rule: BRANCH_RULES[code], check, found, evidence }
}
