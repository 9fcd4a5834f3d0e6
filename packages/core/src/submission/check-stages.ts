/**
 * Checks what only a whole saga shows: where its point of no return stands, and whether its waits may take too long.
 */
import { WAIT_END_MS_MAX } from '@counterstep/protocol'
import type { SagaBranch } from '../definition.ts'
import type { Faults } from './faults.ts'
import type { AncestorFinder } from './references.ts'

/**
 * A pivot and a retriable cannot be undone, so everything that can be undone comes before them. Then nothing that fails can
 * come after the point of no return.
 */
export function refuseWrongRoles(
  branches: readonly SagaBranch[],
  findAncestors: AncestorFinder,
  faults: Faults,
): void {
  if (branches.every(({ role }) => role === undefined)) return
  const pivots = listPositions(branches, ({ role }) => role === 'pivot')
  for (const other of pivots.slice(1))
    faults.add('SAGA_ROLE_INVALID', `/branches/${other}/role`, 'is a second pivot')
  const earlier = listPositions(branches, isUndoable)
  branches.forEach(({ role, compensation }, position) => {
    if (role === undefined) return
    const path = `/branches/${position}`
    if (compensation !== undefined)
      faults.add('SAGA_ROLE_INVALID', `${path}/compensation`, `is not for a ${role}`)
    const before = role === 'retriable' ? [...earlier, ...pivots] : earlier
    const missing = before.find((each) => !findAncestors(position).has(each))
    if (missing !== undefined)
      faults.add('SAGA_ROLE_INVALID', `${path}/role`, `must come after branch ${branches[missing]?.id}`)
  })
}

/** A wait for a signal may turn the saga around, unless the saga goes on without the signal. */
function isUndoable({ role, wait }: SagaBranch): boolean {
  if (wait === undefined) return role === undefined
  return wait.type === 'signal' && wait.onTimeout === 'abort'
}

function listPositions(branches: readonly SagaBranch[], test: (branch: SagaBranch) => boolean): number[] {
  return branches.flatMap((branch, position) => (test(branch) ? [position] : []))
}

/** Refuses timers that together take longer than a saga may wait. A signal may come at once, so its wait counts as nothing. */
export function refuseLongWaits(branches: readonly SagaBranch[], delayMs: number, faults: Faults): void {
  if (branches.every(({ wait }) => wait?.type !== 'ms')) return
  const known = new Map<number, number>()
  const findEndMs = (position: number): number => {
    const before = known.get(position)
    if (before !== undefined) return before
    const { after = [], wait } = branches[position] ?? {}
    const ownMs = wait?.type === 'ms' && typeof wait.ms === 'number' ? wait.ms : 0
    const endMs = ownMs + after.reduce((latest, each) => Math.max(latest, findEndMs(each)), delayMs)
    known.set(position, endMs)
    return endMs
  }
  const late = branches.findIndex(
    ({ wait }, position) => wait?.type === 'ms' && findEndMs(position) > WAIT_END_MS_MAX,
  )
  if (late !== -1)
    faults.add(
      'SAGA_WAIT_INVALID',
      `/branches/${late}/wait`,
      `would end over ${WAIT_END_MS_MAX} ms after the accept`,
    )
}
