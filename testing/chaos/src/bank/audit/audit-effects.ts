import type { Evidence, PlannedTransaction } from '../evidence.ts'
import type { BranchEffects, EffectIndex } from './branch-effects.ts'
import type { Violation } from './violation.ts'

/** I5, I6: what stands in the ledgers is what the end says. The function of a workflow decides which of its moves it makes. */
export function auditEnds({ planned, rows }: Evidence, effects: EffectIndex): Violation[] {
  return [...rows.values()].flatMap(({ gid, status }) => {
    const plan = planned.get(gid)
    if (plan === undefined || plan.kind === 'workflow') return []
    if (status === 'succeeded') return auditSuccess(plan, effects)
    return status === 'failed' ? auditFailure(plan, effects) : []
  })
}

function auditSuccess({ gid, branches }: PlannedTransaction, effects: EffectIndex): Violation[] {
  return branches.flatMap(({ id, bank }) => {
    const [done, undone] = countEffects(effects.find(gid, bank, id))
    if (done === 1 && undone === 0) return []
    return [{ invariant: 'I5', subject: gid, detail: `succeeded, but ${id} has ${words(done, undone)}` }]
  })
}

function auditFailure({ gid, branches }: PlannedTransaction, effects: EffectIndex): Violation[] {
  return branches.flatMap(({ id, bank }) => {
    const [done, undone] = countEffects(effects.find(gid, bank, id))
    if (done === undone && done <= 1) return []
    return [{ invariant: 'I6', subject: gid, detail: `failed, but ${id} has ${words(done, undone)}` }]
  })
}

/** I7, I8, I9: these hold for every outcome of the transaction. */
export function auditOrder(effects: EffectIndex): Violation[] {
  return [...effects.all()].flatMap((branch) => [
    ...auditOnce(branch),
    ...auditHanging(branch),
    ...auditUndo(branch),
  ])
}

function auditOnce({ gid, branchId, actions, compensations }: BranchEffects): Violation[] {
  return [actions, compensations].flatMap((same) =>
    same.length <= 1
      ? []
      : [
          {
            invariant: 'I7',
            subject: gid,
            detail: `${branchId} ${same[0]?.op} took effect ${same.length} times`,
          },
        ],
  )
}

function auditHanging({ gid, branchId, actions, compensations, isBlocked }: BranchEffects): Violation[] {
  const last = actions.at(-1)
  if (last === undefined) return []
  const detail = `${branchId} ${last.op} took effect after its compensation`
  const undoneBefore = compensations.some(({ seq }) => seq < last.seq)
  if (!isBlocked && !undoneBefore) return []
  return [{ invariant: 'I8', subject: gid, detail }]
}

function auditUndo({ gid, branchId, actions, compensations }: BranchEffects): Violation[] {
  const first = compensations[0]
  if (first === undefined || actions.some(({ seq }) => seq < first.seq)) return []
  return [{ invariant: 'I9', subject: gid, detail: `${branchId} was undone, and had not been done` }]
}

function countEffects(branch: BranchEffects | undefined): readonly [done: number, undone: number] {
  return [branch?.actions.length ?? 0, branch?.compensations.length ?? 0]
}

function words(done: number, undone: number): string {
  return `${done} effects of its action and ${undone} of its compensation`
}
