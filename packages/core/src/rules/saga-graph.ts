/** Asks the branches of a saga about each other: what comes before and behind one, and whether that has succeeded. */
import type { SagaTransaction } from '../transaction.ts'

export function haveAllSucceeded({ branches }: SagaTransaction): boolean {
  return branches.every(({ action }) => action.state === 'succeeded')
}

/** Tells whether the branch may begin. A branch without predecessors may begin at once. */
export function havePredecessorsSucceeded(
  { definition, branches }: SagaTransaction,
  branch: number,
): boolean {
  const { after = [] } = definition.branches[branch] ?? {}
  return after.every((before) => branches[before]?.action.state === 'succeeded')
}

export function findSuccessors({ definition }: SagaTransaction, branch: number): number[] {
  const later: number[] = []
  definition.branches.forEach((candidate, position) => {
    if (candidate.after.includes(branch)) later.push(position)
  })
  return later
}
