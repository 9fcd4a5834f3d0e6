import type { OperatorCommand, PlanView, PreviewRequest, TransactionView } from '@counterstep/protocol'
import { cleanLine } from '../print/clean-text.ts'
import type { Changes } from '../print/write-changes.ts'
import { writePlan } from '../print/write-plan.ts'
import type { OperatorContext } from './operator-context.ts'
import { CONFIRMATION_NEEDED, NotGivenError } from './operator-errors.ts'

const WITHOUT_TERMINAL =
  'There is no terminal to ask at, so nothing was done: --yes gives the command without a look at its plan.'

export interface Agreement {
  /** The plan that the person has seen. It is absent with --yes. */
  readonly planId?: string
}

/** Shows what would follow from a command, and asks. Throws a NotGivenError unless the answer is yes. */
export async function agree(
  context: OperatorContext,
  gid: string,
  asked: PreviewRequest,
  changes?: Changes,
): Promise<Agreement> {
  const { line, operator, say, signal } = context
  let agreement: Agreement = {}
  await askWhether(context, async () => {
    const plan = await operator.preview(gid, asked, { signal })
    const isConfirmed = line.values.has('confirm')
    const view = await readWaiting(context, gid, plan)
    const planned = { gid, command: asked.command, changes, isConfirmed, view }
    for (const text of writePlan(plan, planned, operator.now())) say(text)
    if (plan.refusal !== undefined) throw new NotGivenError('It would be refused, so it was not given.', 2)
    if (plan.needs.includes('confirm') && !isConfirmed) throw new NotGivenError(CONFIRMATION_NEEDED)
    agreement = { planId: plan.planId }
    return `${nameCommand(asked.command)} transaction ${cleanLine(gid)}?`
  })
  return agreement
}

/** Reads the transaction where the plan is explained by its last answers. */
export async function readWaiting(
  { operator, signal }: OperatorContext,
  gid: string,
  { waitsFor }: PlanView,
): Promise<TransactionView | undefined> {
  return waitsFor.length === 0 ? undefined : await operator.show(gid, { signal })
}

/**
 * Asks a person the question that `prepare` returns, which also shows what it is about. With --yes neither is done.
 * Throws a NotGivenError unless the answer is yes.
 */
export async function askWhether(
  { line, openTerminal }: OperatorContext,
  prepare: () => Promise<string>,
): Promise<void> {
  if (line.switches.has('yes')) return
  const terminal = openTerminal()
  if (terminal === undefined) throw new NotGivenError(WITHOUT_TERMINAL)
  try {
    const answer = await terminal.ask(`${await prepare()} [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new NotGivenError('Nothing was done.')
  } finally {
    terminal.close()
  }
}

function nameCommand(command: OperatorCommand): string {
  return `${command.charAt(0).toUpperCase()}${command.slice(1).replace('-op', '')}`
}
