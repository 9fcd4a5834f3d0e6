import { describeWaits } from '@counterstep/explain'
import type { OperatorCommand, PlannedCall, PlanView, TransactionView } from '@counterstep/protocol'
import { cleanLine } from './clean-text.ts'
import { formatBoth } from './instants.ts'
import { type Changes, showEditedUrl, writeChanges } from './write-changes.ts'
import { pad } from './write-table.ts'

const RAN: Readonly<Record<PlannedCall['ran'], string>> = {
  yes: 'has run',
  maybe: 'may have run',
  no: 'has not run',
}
const EXACTNESS = {
  exact: '',
  guessed: ', another node runs it, so each branch counts as called',
} as const

export interface PlannedCommand {
  readonly gid: string
  readonly command: OperatorCommand
  /** Only an edit has them. */
  readonly changes?: Changes | undefined
  /** The person has said that no call took effect. */
  readonly isConfirmed?: boolean
  /** The transaction before the command, which knows the last answers. */
  readonly view?: TransactionView | undefined
}

/** Writes what would follow from a command, as the dialog of the console does. */
export function writePlan(
  plan: PlanView,
  { gid, command, changes, isConfirmed = false, view }: PlannedCommand,
  now: number,
): readonly string[] {
  const exactness = plan.exact ? EXACTNESS.exact : EXACTNESS.guessed
  const head = `What ${command} of ${cleanLine(gid)} does, by its record of ${formatBoth(plan.asOf, now)}${exactness}:`
  if (plan.refusal !== undefined) {
    return [head, `  It would be refused: ${cleanLine(`${plan.refusal.detail} (${plan.refusal.code})`)}`]
  }
  const shown = changes === undefined ? plan : showEditedUrl(plan, changes)
  const calls = shown.steps.flatMap((step, at) => step.map((call) => writeCall(call, at + 1)))
  const waits = describeWaits(plan, view)
  return [
    head,
    ...(changes === undefined ? [] : [writeChanges(plan, changes)]),
    ...(calls.length === 0 ? ['  No call follows.'] : calls),
    ...plan.cannotUndo.map((id) => `  –  ${cleanLine(id)} cannot be undone: it has no compensation`),
    ...(waits === undefined ? [] : [`  ${cleanLine(waits)}`]),
    ...(plan.needs.includes('confirm') && !isConfirmed
      ? ['  A call of it may have taken effect, so it needs --confirm no-call-took-effect.']
      : []),
    `  It ends as ${cleanLine(plan.ends)} once every call has succeeded.`,
  ]
}

function writeCall({ branchId, op, url, ran }: PlannedCall, step: number): string {
  const called = `${op} ${branchId}`
  return `  ${pad(String(step), 2)} ${pad(cleanLine(called), 28)} ${pad(RAN[ran] ?? cleanLine(ran), 13)} ${cleanLine(url ?? '')}`.trimEnd()
}
