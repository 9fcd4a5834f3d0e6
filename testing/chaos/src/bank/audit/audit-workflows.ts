import type { TransactionView } from '@counterstep/protocol'
import type { BranchCallNote, Evidence, RecordedStep } from '../evidence.ts'
import type { EffectIndex } from './branch-effects.ts'
import { groupBy } from './group-by.ts'
import type { InvariantName, Violation } from './violation.ts'

/** I37, I40, I41: the steps of a workflow's record against what banks saw, and against what their ledgers hold. */
export function auditWorkflows(
  { workflows, calls, recordedSteps }: Evidence,
  effects: EffectIndex,
): Violation[] {
  const callsByGid = groupBy(calls, ({ gid }) => gid)
  const recordedByGid = groupBy(recordedSteps ?? [], ({ gid }) => gid)
  return workflows.flatMap((view) => {
    const { gid } = view
    const arrivals = (callsByGid.get(gid) ?? []).filter(({ op }) => op !== 'plan')
    const recorded = recordedSteps === undefined ? undefined : (recordedByGid.get(gid) ?? [])
    return [
      ...findStrangers(view, arrivals, effects).map((detail) => toViolation('I37', gid, detail)),
      ...findEarlyCalls(arrivals, recorded).map((detail) => toViolation('I37', gid, detail)),
      ...findWrongOutcomes(view, effects).map((detail) => toViolation('I40', gid, detail)),
      ...findLateSteps(arrivals, recorded).map((detail) => toViolation('I41', gid, detail)),
    ]
  })
}

function toViolation(invariant: InvariantName, subject: string, detail: string): Violation {
  return { invariant, subject, detail }
}

function findStrangers(
  { gid, branches }: TransactionView,
  arrivals: readonly BranchCallNote[],
  effects: EffectIndex,
): string[] {
  const known = new Set(branches.map(({ id }) => id))
  const seen = new Set([...arrivals, ...effects.of(gid)].map(({ branchId }) => branchId))
  return [...seen].filter((id) => !known.has(id)).map((id) => `${id} is not in the record`)
}

/** The instant of a write is before its commit, and an arrival is after that, by the clock of one machine. */
function findEarlyCalls(
  arrivals: readonly BranchCallNote[],
  recorded: readonly RecordedStep[] | undefined,
): string[] {
  if (recorded === undefined) return []
  const since = new Map(recorded.map(({ branchId, at }) => [branchId, at]))
  const first = new Map<string, number>()
  for (const { branchId, at } of arrivals)
    first.set(branchId, Math.min(at, first.get(branchId) ?? Number.POSITIVE_INFINITY))
  return [...first].flatMap(([id, at]) => {
    const earlyMs = (since.get(id) ?? Number.POSITIVE_INFINITY) - at
    return earlyMs > 0 ? [`${id} was called ${earlyMs} ms before it was in the record`] : []
  })
}

function findWrongOutcomes(view: TransactionView, effects: EffectIndex): string[] {
  const { gid, status, branches, result } = view
  const found = status === 'succeeded' && result === undefined ? ['succeeded without a result'] : []
  if (status !== 'succeeded' && status !== 'failed') return found
  const ledger = effects.of(gid)
  for (const { id, wait, ops } of branches) {
    if (wait !== undefined) continue
    const mine = ledger.filter(({ branchId }) => branchId === id)
    const done = mine.reduce((sum, { actions }) => sum + actions.length, 0)
    const undone = mine.reduce((sum, { compensations }) => sum + compensations.length, 0)
    const isDone = status === 'succeeded' && ops.find(({ op }) => op === 'action')?.state === 'succeeded'
    // A step that has failed is undone at once, also while its workflow goes on.
    const isRight = isDone ? done === 1 && undone === 0 : done === undone && done <= 1
    if (!isRight) found.push(`${status}, but ${id} was done ${done} times and undone ${undone} times`)
  }
  return found
}

function findLateSteps(
  arrivals: readonly BranchCallNote[],
  recorded: readonly RecordedStep[] = [],
): string[] {
  const late = new Set(recorded.flatMap(({ branchId, isAfterTurn }) => (isAfterTurn ? [branchId] : [])))
  const called = new Set(arrivals.flatMap(({ branchId, op }) => (op === 'action' ? [branchId] : [])))
  return [...called]
    .filter((id) => late.has(id))
    .map((id) => `${id} was called, and was planned after the turn`)
}
