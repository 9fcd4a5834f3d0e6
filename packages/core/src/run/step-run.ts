/** Makes one step of a run: it folds the event in, then starts the calls and the save that the new state allows. */
import { assert } from '../errors.ts'
import type { UpdateResult } from '../ports/store.ts'
import type { CallKey, TransactionEvent } from '../rules/events.ts'
import { findOp, withoutUnanswered } from '../rules/op-progress.ts'
import { assertValid, type Rules } from '../rules/rules.ts'
import { isFinal } from '../transaction.ts'
import { mergeStoredRow } from './merge-stored-row.ts'
import { type Needs, planSave, type RunRoom } from './plan-save.ts'
import { type Run, readStoreNow, type SaveInFlight } from './run.ts'
import type { RunEffect, RunEvent } from './run-events.ts'

export interface Step {
  readonly run: Run
  readonly effects: readonly RunEffect[]
}

/** The default of `room` is a node with ample room and small rows. */
export function stepRun(rules: Rules, before: Run, event: RunEvent, now: number, room?: RunRoom): Step {
  if (before.ended) return { run: before, effects: [] }
  const effects: RunEffect[] = []
  let run = applyEvent(rules, before, event, now, effects)
  if (!run.ended && !run.rereading) run = proceed(rules, run, now, effects, room)
  return { run, effects }
}

function applyEvent(rules: Rules, run: Run, event: RunEvent, now: number, effects: RunEffect[]): Run {
  switch (event.type) {
    case 'tick':
      return run
    case 'answered':
    case 'held-back':
      return fold(rules, run, event, now)
    case 'command':
      return fold(rules, run, event.command, now)
    case 'saved':
      return applySaveResult(run, event.result, effects)
    case 'renewed':
      return applyRenewal(run, event, effects)
    case 'lease-lost':
      // A save in flight may be the finish or release that ended the lease. Its own answer will tell.
      return run.save === undefined ? end(run, 'lost', effects) : run
    case 'reread':
      return applyReread(run, event, now, effects)
    case 'drain':
      return { ...run, draining: event.when }
  }
}

function fold(rules: Rules, run: Run, event: TransactionEvent, now: number): Run {
  const { next: folded, durability } = rules.fold(run.transaction, event, readStoreNow(run, now))
  if (folded === run.transaction) return run
  // The owner has survived to see how the call ended, or why it was not made.
  const isAnswer = event.type === 'answered' || event.type === 'held-back'
  const next = isAnswer ? withoutUnanswered(folded) : folded
  assertValid(next)
  if (durability === 'none') return { ...run, transaction: next }
  const lastChange = run.lastChange + 1
  return {
    ...run,
    transaction: next,
    lastChange,
    lastStrongChange: durability === 'strong' ? lastChange : run.lastStrongChange,
    dirtySince: run.dirtySince ?? now,
  }
}

function applySaveResult(run: Run, result: UpdateResult, effects: RunEffect[]): Run {
  const { save } = run
  assert(save !== undefined, 'a save ended that was not in flight')
  switch (result.type) {
    case 'saved':
      return markDurable(run, save, result.version, effects)
    case 'conflict':
      effects.push({ type: 'reread' })
      return { ...run, save: undefined, rereading: true }
    case 'fenced':
    case 'absent':
      return end({ ...run, save: undefined }, 'lost', effects)
  }
}

function markDurable(run: Run, save: SaveInFlight, version: number, effects: RunEffect[]): Run {
  const { lastChange, transaction, hold, dueAt } = save
  effects.push({ type: 'durable', lastSavedChange: lastChange })
  if (hold === 'finish') effects.push({ type: 'ended', how: 'finished' })
  else if (hold === 'release')
    effects.push({ type: 'ended', how: 'released', ...(dueAt === undefined ? {} : { dueAt }) })
  const ended = hold !== 'keep'
  return {
    ...run,
    save: undefined,
    version,
    lastSavedChange: lastChange,
    durableTransaction: transaction,
    ended,
  }
}

function applyRenewal(
  run: Run,
  event: Extract<RunEvent, { readonly type: 'renewed' }>,
  effects: RunEffect[],
): Run {
  const { grant, version } = event
  const next: Run = {
    ...run,
    leaseUntil: Math.max(run.leaseUntil, grant.sentAt + run.settings.leaseMs),
    storeOffsetMs: grant.storeNow - grant.now,
  }
  // While a save is in flight, the other version may be our own. If it is not, that save answers conflict.
  if (version <= run.version || run.save !== undefined || run.rereading) return next
  effects.push({ type: 'reread' })
  return { ...next, rereading: true }
}

function applyReread(
  run: Run,
  event: Extract<RunEvent, { readonly type: 'reread' }>,
  now: number,
  effects: RunEffect[],
): Run {
  const merged = mergeStoredRow({ ...run, rereading: false }, event.row, now)
  return merged === undefined ? end(run, 'lost', effects) : finishIfMergedIsFinal(merged, effects)
}

function finishIfMergedIsFinal(run: Run, effects: RunEffect[]): Run {
  if (!isFinal(run.transaction) || run.lastSavedChange < run.lastChange) return run
  effects.push({ type: 'durable', lastSavedChange: run.lastChange }, { type: 'ended', how: 'finished' })
  return { ...run, ended: true }
}

function end(run: Run, how: 'lost', effects: RunEffect[]): Run {
  effects.push({ type: 'ended', how })
  return { ...run, ended: true }
}

function proceed(rules: Rules, before: Run, now: number, effects: RunEffect[], room?: RunRoom): Run {
  // No end is decided on top of a decision that is not durable yet.
  let run =
    before.lastSavedChange >= before.lastStrongChange ? fold(rules, before, { type: 'time' }, now) : before
  const needs = readNeeds(rules, run, now)
  if (mayCall(run, now)) run = callBranches(rules, run, needs.calls, now, effects)
  const plan = planSave(run, needs, now, room)
  if (plan.effect !== undefined) effects.push(plan.effect)
  // While a strong change is unsaved nothing is decided, so an instant that
  // has passed would wake the run again and again.
  const wakeAt = run.lastSavedChange >= run.lastStrongChange ? needs.wakeAt : undefined
  const wakes = [wakeAt, plan.wakeAt].filter((at) => at !== undefined)
  if (wakes.length > 0) effects.push({ type: 'wake-at', at: Math.min(...wakes) })
  return plan.run
}

function readNeeds(rules: Rules, run: Run, now: number): Needs {
  const calls: CallKey[] = []
  let wakeAt: number | undefined
  for (const effect of rules.effects(run.transaction, readStoreNow(run, now))) {
    if (effect.type === 'call') calls.push(effect.call)
    else if (effect.type === 'wake-at') wakeAt = effect.at - run.storeOffsetMs
  }
  return wakeAt === undefined ? { calls } : { calls, wakeAt }
}

function mayCall(run: Run, now: number): boolean {
  return (
    run.lastSavedChange >= run.lastStrongChange &&
    run.save?.hold !== 'release' &&
    run.draining === 'no' &&
    now < run.leaseUntil
  )
}

function callBranches(
  rules: Rules,
  run: Run,
  calls: readonly CallKey[],
  now: number,
  effects: RunEffect[],
): Run {
  if (calls.length === 0) return run
  const next = fold(rules, run, { type: 'sent', calls }, now)
  for (const call of calls) {
    const attempt = findOp(next.transaction, call)?.attempts ?? 0
    effects.push({ type: 'call', call, attempt })
  }
  return next
}
