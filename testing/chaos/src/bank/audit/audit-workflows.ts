import type { TransactionView } from '@counterstep/protocol'
import type {
  BranchCallNote,
  Effect,
  Evidence,
  GrantNote,
  PlannedTransaction,
  RecordedGrant,
  RecordedStep,
} from '../evidence.ts'
import type { Death } from '../service/aimed-death.ts'
import { STEP_NAMES, type TransferResult } from '../service/transfer-workflow.ts'
import type { BranchEffects, EffectIndex } from './branch-effects.ts'
import { groupBy } from './group-by.ts'
import type { InvariantName, Violation } from './violation.ts'

/** Everything that is known of one workflow. */
interface KnownWorkflow {
  readonly view: TransactionView
  readonly plan: PlannedTransaction | undefined
  /** The calls of its steps, and the calls that grant slots to its handler. */
  readonly arrivals: readonly BranchCallNote[]
  readonly granting: readonly (BranchCallNote & { readonly grant: GrantNote })[]
  readonly effects: readonly BranchEffects[]
  readonly recordedSteps: readonly RecordedStep[]
  readonly recordedGrants: readonly RecordedGrant[]
  readonly deaths: readonly Death[]
}

const RULES: readonly (readonly [InvariantName, (workflow: KnownWorkflow) => string[]])[] = [
  ['I5', findMissingMoves],
  ['I6', findLeftMoves],
  ['I37', findStrangers],
  ['I37', findEarlyCalls],
  ['I37', findEarlyGrants],
  ['I38', findChangedJournals],
  ['I38', findOtherSteps],
  ['I40', findWrongOutcomes],
  ['I40', findForgottenCommits],
  ['I41', findLateSteps],
]

/** I5, I6, I37, I38, I40, I41: a workflow's record against what banks saw, and against what their ledgers hold. */
export function auditWorkflows(evidence: Evidence, index: EffectIndex): Violation[] {
  const calls = groupByGid(evidence.calls)
  const steps = groupByGid(evidence.recordedSteps)
  const grants = groupByGid(evidence.recordedGrants)
  const deaths = groupByGid(evidence.deaths)
  return evidence.workflows.flatMap((view) => {
    const { gid } = view
    const mine = calls.get(gid) ?? []
    const workflow: KnownWorkflow = {
      view,
      plan: evidence.planned.get(gid),
      arrivals: mine.filter(({ op }) => op !== 'plan'),
      granting: mine.flatMap((call) => (call.grant === undefined ? [] : [{ ...call, grant: call.grant }])),
      effects: index.of(gid),
      recordedSteps: steps.get(gid) ?? [],
      recordedGrants: grants.get(gid) ?? [],
      deaths: deaths.get(gid) ?? [],
    }
    return RULES.flatMap(([invariant, find]) =>
      find(workflow).map((detail) => ({ invariant, subject: gid, detail })),
    )
  })
}

function groupByGid<Item extends { readonly gid: string }>(items: readonly Item[]) {
  return groupBy(items, ({ gid }) => gid)
}

/**
 * The moves that the result names stand once, and no others do. Each move has an account of its own. It may have been made twice,
 * and undone once: one attempt of a plan call went on behind a step that failed in the attempt that counts, and what it made is sealed.
 */
function findMissingMoves({ view: { status, result }, plan, effects }: KnownWorkflow): string[] {
  if (status !== 'succeeded' || plan === undefined) return []
  if (result === undefined) return ['succeeded without a result']
  const { done } = result as unknown as TransferResult
  return plan.branches.flatMap(({ id, account }) => {
    const [made, undone] = countEffects(effects, (each) => each.account === account)
    if (made - undone === (done.includes(id) ? 1 : 0)) return []
    return [`${id} was made ${made} times and undone ${undone} times, and it succeeded`]
  })
}

function findLeftMoves({ view: { status }, plan, effects }: KnownWorkflow): string[] {
  if (status !== 'failed' || plan === undefined) return []
  return plan.branches.flatMap(({ id, account }) => {
    const [made, undone] = countEffects(effects, (each) => each.account === account)
    if (made === undone) return []
    return [`${id} was made ${made} times and undone ${undone} times, and it failed`]
  })
}

/** Counts what was done and what was undone, of all banks. */
function countEffects(
  effects: readonly BranchEffects[],
  isMeant: (effect: Effect) => boolean,
): readonly [done: number, undone: number] {
  const count = (of: readonly Effect[]) => of.filter(isMeant).length
  return [
    effects.reduce((sum, { actions }) => sum + count(actions), 0),
    effects.reduce((sum, { compensations }) => sum + count(compensations), 0),
  ]
}

function findStrangers({ view, arrivals, effects }: KnownWorkflow): string[] {
  const known = new Set(view.branches.map(({ id }) => id))
  const seen = new Set([...arrivals, ...effects].map(({ branchId }) => branchId))
  return [...seen].filter((id) => !known.has(id)).map((id) => `${id} is not in the record`)
}

/** The instant of a write is before its commit, and an arrival is after that, by the clock of one machine. */
function findEarlyCalls({ arrivals, recordedSteps }: KnownWorkflow): string[] {
  const since = new Map(recordedSteps.map(({ branchId, at }) => [branchId, at]))
  return listEarly(
    arrivals.map(({ branchId, at }) => ({ what: branchId, at })),
    (id) => since.get(id),
  ).map(([id, earlyMs]) => `${id} was called ${earlyMs} ms before it was in the record`)
}

function findEarlyGrants({ plan, granting, recordedGrants }: KnownWorkflow): string[] {
  const since = (slot: number) =>
    recordedGrants.find(({ lastSlot = plan?.grants ?? 0 }) => lastSlot >= slot)?.at
  return listEarly(
    granting.map(({ grant, at }) => ({ what: grant.lastSlot, at })),
    since,
  ).map(([slot, earlyMs]) => `~${slot} was granted ${earlyMs} ms before that was in the record`)
}

/** Lists what came first before the instant since when it may come, which is never if there is none. */
function listEarly<What>(
  arrivals: readonly { readonly what: What; readonly at: number }[],
  findSince: (what: What) => number | undefined,
): readonly (readonly [What, number])[] {
  const first = new Map<What, number>()
  for (const { what, at } of arrivals)
    first.set(what, Math.min(at, first.get(what) ?? Number.POSITIVE_INFINITY))
  return [...first].flatMap(([what, at]) => {
    const earlyMs = (findSince(what) ?? Number.POSITIVE_INFINITY) - at
    return earlyMs > 0 ? [[what, earlyMs] as const] : []
  })
}

/** A plan is opened only when the one before it was accepted, so its journal begins with that one's. */
function findChangedJournals({ granting }: KnownWorkflow): string[] {
  const inOrder = granting.toSorted((one, other) => one.grant.plan - other.grant.plan)
  return inOrder.flatMap(({ grant }, index) => {
    const before = inOrder[index - 1]?.grant
    if (before === undefined || before.journal.every((entry, at) => entry === grant.journal[at])) return []
    return [`the journal of plan ${grant.plan} does not begin with that of plan ${before.plan}`]
  })
}

/** The amount that stands in the ledger under a slot tells which step has run there. */
function findOtherSteps({ view, effects }: KnownWorkflow): string[] {
  return view.branches.flatMap(({ id, is, stepId, name }) => {
    if (is !== 'step' || stepId === undefined || name === STEP_NAMES.keep) return []
    const ran = effects
      .filter(({ branchId }) => branchId === id)
      .flatMap(({ actions }) => actions.map(({ cents }) => (cents < 0 ? STEP_NAMES.take : STEP_NAMES.give)))
    return ran.filter((step) => step !== name).map((step) => `${id} is ${name}, and ${step} has run there`)
  })
}

function findWrongOutcomes({ view: { status, branches }, effects }: KnownWorkflow): string[] {
  if (status !== 'succeeded' && status !== 'failed') return []
  return branches.flatMap(({ id, is, ops }) => {
    if (is !== 'step' && is !== 'call') return []
    const [done, undone] = countEffects(effects, ({ branchId }) => branchId === id)
    const isDone = status === 'succeeded' && ops.find(({ op }) => op === 'action')?.state === 'succeeded'
    // A step that has failed is undone at once, also while its workflow goes on.
    const isRight = isDone ? done === 1 && undone === 0 : done === undone && done <= 1
    return isRight ? [] : [`${status}, but ${id} was done ${done} times and undone ${undone} times`]
  })
}

/** A step that had committed when its handler died stays in the ledger, also behind its undo. */
function findForgottenCommits({ effects, deaths }: KnownWorkflow): string[] {
  return deaths.flatMap(({ slots, point }) =>
    slots.flatMap((slot) => {
      const [done] = countEffects(effects, ({ branchId }) => branchId === slot)
      return done === 1
        ? []
        : [`${slot} had committed when its handler died ${point}, and is there ${done} times`]
    }),
  )
}

function findLateSteps({ arrivals, recordedSteps }: KnownWorkflow): string[] {
  const late = new Set(recordedSteps.flatMap(({ branchId, isAfterTurn }) => (isAfterTurn ? [branchId] : [])))
  const called = new Set(arrivals.flatMap(({ branchId, op }) => (op === 'action' ? [branchId] : [])))
  return [...called]
    .filter((id) => late.has(id))
    .map((id) => `${id} was called, and was planned after the turn`)
}
