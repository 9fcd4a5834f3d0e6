import type { BranchView, Op, OpView, TransactionView } from '@counterstep/protocol'

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

const UNDO: ReadonlySet<Op> = new Set(['compensate', 'cancel'])
const LABELS: Readonly<Record<Op, string>> = {
  action: 'action',
  compensate: 'undo',
  try: 'try',
  confirm: 'confirm',
  cancel: 'cancel',
  msg: 'query-back',
  plan: 'plan',
}

/** Lists the lanes of a transaction of any kind. A later kind brings its lanes here. */
export function listLanes(view: TransactionView): readonly Lane[] {
  const check = view.check === undefined ? [] : [toLane({ id: undefined, op: view.check, isFirst: true })]
  return [...check, ...view.branches.flatMap((branch) => listBranchLanes(branch))]
}

function listBranchLanes(branch: BranchView): readonly Lane[] {
  const shown = branch.ops.filter((op, index) => index === 0 || hasHappened(op))
  return shown.map((op, index) => ({
    ...toLane({ id: branch.id, op, isFirst: index === 0 }),
    ...(branch.wait === undefined || index > 0 ? {} : { waits: describeWait(branch) }),
  }))
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
    direction: UNDO.has(op.op) ? 'undo' : 'forward',
    isFirst,
    op,
  }
}

function describeWait({ wait }: BranchView): string {
  if (wait?.signal !== undefined) return `signal ${wait.signal}`
  return 'time'
}
