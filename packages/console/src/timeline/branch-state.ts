import { type TransactionView, isUndo as undoes } from '@counterstep/protocol'

/** One word for a branch: what its last op that was called came to. */
export function readBranchState(view: TransactionView, id: string): string {
  const ops = view.branches.find((branch) => branch.id === id)?.ops ?? []
  const last = ops.findLast(({ state, attempts }) => state !== 'idle' || attempts > 0)
  if (last === undefined) return 'not called'
  const isUndo = undoes(last.op)
  if (last.state === 'succeeded') return isUndo ? 'undone' : 'done'
  if (last.state === 'failed') return 'refused'
  return isUndo ? `undo ${last.state}` : last.state
}
