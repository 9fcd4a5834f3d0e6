import type { SagaBranch } from '../definition.ts'
import type { Faults } from './faults.ts'
import type { ParsedBranch } from './parse-saga-branch.ts'

/** Turns ids into positions. It refuses unknown ids, ids that are given twice, and cycles. */
export function orderBranches(parsed: readonly ParsedBranch[], faults: Faults): readonly SagaBranch[] {
  const positions = new Map<string, number>()
  parsed.forEach(({ branch: { id } }, position) => {
    if (positions.has(id))
      faults.add('SAGA_BRANCH_ID_DUPLICATE', `/branches/${position}/id`, `${id} is given twice`)
    else positions.set(id, position)
  })
  const branches = parsed.map(({ branch, afterIds }, position) => ({
    ...branch,
    after: afterPositions(afterIds, position, positions, faults),
  }))
  // Without any `after`, each branch follows the one before it, so there can be no cycle.
  if (faults.isEmpty && parsed.some(({ afterIds }) => afterIds !== undefined)) refuseCycle(branches, faults)
  return branches
}

/** Finds the positions of the branches that come before this one. Without `after`, it follows the one before it. */
function afterPositions(
  afterIds: readonly string[] | undefined,
  position: number,
  positions: ReadonlyMap<string, number>,
  faults: Faults,
): readonly number[] {
  if (afterIds === undefined) return position === 0 ? [] : [position - 1]
  const after = new Set<number>()
  afterIds.forEach((id, index) => {
    const before = positions.get(id)
    if (before === undefined)
      faults.add('SAGA_AFTER_UNKNOWN', `/branches/${position}/after/${index}`, 'no such branch')
    else after.add(before)
  })
  return [...after]
}

/**
 * Removes branches without a remaining predecessor until none is found.
 * Each branch that stays is in a cycle or behind one.
 */
function refuseCycle(branches: readonly SagaBranch[], faults: Faults): void {
  const left = new Set(branches.keys())
  let taken = true
  while (taken) {
    taken = false
    for (const position of left) {
      if (branches[position]?.after.some((before) => left.has(before))) continue
      left.delete(position)
      taken = true
    }
  }
  const [first] = left
  if (first !== undefined)
    faults.add('SAGA_AFTER_CYCLE', `/branches/${first}/after`, 'is part of, or behind, a cycle')
}
