import type { Op } from '@counterstep/protocol'

const NOUNS: Readonly<Record<Op, string>> = {
  action: 'the action',
  compensate: 'the compensation',
  try: 'the try',
  confirm: 'the confirm',
  cancel: 'the cancel',
  msg: 'the query-back',
  plan: 'the plan call',
  commit: 'the commit',
  rollback: 'the rollback',
}

/** Names an op of a branch in a sentence: `the compensation of debit`. */
export function nameOp(op: Op, branchId: string | undefined): string {
  // A newer server may have further ops.
  const noun = NOUNS[op] ?? `the ${op}`
  return branchId === undefined ? noun : `${noun} of ${branchId}`
}

/** Names who answers the plan calls of a workflow. A problem has the workflow in the place of the service. */
export function nameHandler(workflow: string): string {
  return `The handler of ${workflow}`
}
