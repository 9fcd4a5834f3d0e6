import { type ParameterValues, resolveValue } from './resolve-template.ts'
import type { Template } from './template.ts'

interface Rule {
  readonly RuleCondition?: unknown
  readonly Assertions: readonly { readonly Assert: unknown; readonly AssertDescription: string }[]
}

/** Lists the reasons for which CloudFormation would refuse these parameters before it changes anything. */
export function listRefusals(template: Template, given: ParameterValues): readonly string[] {
  const holds = (value: unknown) => resolveValue(template, given, value) === true
  return Object.values(template.Rules as Readonly<Record<string, Rule>>)
    .filter(({ RuleCondition }) => RuleCondition === undefined || holds(RuleCondition))
    .flatMap(({ Assertions }) => Assertions)
    .filter(({ Assert }) => !holds(Assert))
    .map(({ AssertDescription }) => AssertDescription)
}
