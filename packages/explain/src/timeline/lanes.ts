import { type BranchView, isUndo, type Op, type OpView, type TransactionView } from '@counterstep/protocol'

/** One row of the waterfall: an op of a branch. A lane that undoes is drawn below the one that it undoes, mirrored. */
export interface Lane {
  /** It is unique in the transaction, and stands in the address: `debit.compensate`. */
  readonly id: string
  readonly branchId?: string
  readonly label: string
  readonly direction: 'forward' | 'undo'
  /** The first lane of a branch carries its name. */
  readonly isFirst: boolean
  readonly op: OpView
  readonly waits?: string
}

const LABELS: Readonly<Record<Op, string>> = {
  action: 'action',
  compensate: 'undo',
  try: 'try',
  confirm: 'confirm',
  cancel: 'cancel',
  msg: 'query-back',
  plan: 'plan',
  commit: 'commit',
  rollback: 'rollback',
}

/** Lists the lanes of a transaction of any kind. A later kind brings its lanes here. */
export function listLanes(view: TransactionView): readonly Lane[] {
  const check = view.check === undefined ? [] : [toLane({ id: undefined, op: view.check, isFirst: true })]
  const at = view.plan === undefined ? 0 : countOlderSteps(view)
  return [
    ...check,
    ...view.branches.slice(0, at).flatMap((branch) => listBranchLanes(branch)),
    ...listPlanLanes(view),
    ...view.branches.slice(at).flatMap((branch) => listBranchLanes(branch)),
  ]
}

/** Only the plan call in hand is known. It stands above the steps that it has planned, and below all others. */
function listPlanLanes({ plan, workflow }: TransactionView): readonly Lane[] {
  if (plan === undefined || !hasHappened(plan)) return []
  const lane = toLane({ id: undefined, op: plan, isFirst: true })
  return [workflow === undefined ? lane : { ...lane, label: `plan ${workflow.plan}` }]
}

function countOlderSteps({ branches, workflow, plan }: TransactionView): number {
  const number = workflow?.plan ?? 0
  // Local steps that ran within plan calls have ranks of their own, and with them the ranks run ahead of the plans.
  const isAhead = branches.some(({ rank = 0 }) => rank > number)
  const at = branches.findIndex((branch) =>
    isAhead ? beginsAfter(branch, plan?.startedAt ?? 0) : (branch.rank ?? 0) >= number,
  )
  return at === -1 ? branches.length : at
}

function beginsAfter({ ops }: BranchView, at: number): boolean {
  const { startedAt, state } = ops[0] ?? {}
  return startedAt === undefined ? state === 'idle' : startedAt >= at
}

function listBranchLanes(branch: BranchView): readonly Lane[] {
  const shown = branch.ops.filter((op, index) => index === 0 || hasHappened(op))
  return shown.map((op, index) => ({
    ...toLane({ id: branch.id, op, isFirst: index === 0 }),
    ...(index > 0 ? {} : nameLocalStep(branch)),
    ...(branch.wait === undefined || index > 0 ? {} : { waits: describeWait(branch) }),
  }))
}

/** Only a slot of which no plan has told has no name in the code. Its own name says that it may have run. */
function nameLocalStep({ is, stepId, name }: BranchView): Partial<Pick<Lane, 'label'>> {
  const label = stepId ?? (is === 'step' ? name : undefined)
  return label === undefined ? {} : { label }
}

/** An undo that never became due would only fill the page. */
function hasHappened({ state, attempts }: OpView): boolean {
  return state !== 'idle' || attempts > 0
}

function toLane({ id, op, isFirst }: { id: string | undefined; op: OpView; isFirst: boolean }): Lane {
  return {
    id: id === undefined ? op.op : `${id}.${op.op}`,
    ...(id === undefined ? {} : { branchId: id }),
    label: isFirst && id !== undefined ? id : (LABELS[op.op] ?? op.op),
    direction: isUndo(op.op) ? 'undo' : 'forward',
    isFirst,
    op,
  }
}

function describeWait({ wait }: BranchView): string {
  if (wait?.signal !== undefined) return `signal ${wait.signal}`
  return 'time'
}
