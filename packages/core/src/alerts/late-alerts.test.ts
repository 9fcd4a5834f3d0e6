import { describe, expect, it } from 'vitest'
import { ALERT_PENDING_MAX, type AlertCase, type AlertState, NO_ALERTS } from './alert-state.ts'
import type { AlertFinding } from './find-alerts.ts'
import type { AlertTargetRules } from './fold-alerts.ts'
import { listLateFilters, queueLateAlerts } from './late-alerts.ts'
import { TARGET_HOUR_MAX } from './target-hours.ts'

const NOW = 1_700_000_000_000
const SUBJECT = 'bank compensate 500'
const OPTIONS = { now: NOW, hash: (text: string) => text.replace('\n', '+'), shownMax: 5 }
const FINDINGS: readonly AlertFinding[] = [{ rule: 'attention', subject: SUBJECT, count: 60, holdMs: 0 }]
const PAGER: AlertTargetRules = { name: 'pager', rules: ['attention'], names: ['transfer', 'payout'] }
const FILTER = { target: PAGER, name: 'transfer' }
const SAMPLES = [{ gid: 'order-1', name: 'transfer', problem: SUBJECT }]

function buildState(change: Partial<AlertCase> = {}, more: Partial<AlertState> = {}): AlertState {
  const told = {
    stage: 'open',
    firstAt: NOW,
    since: NOW,
    toldAt: NOW,
    toldCount: 50,
    toldTo: ['ops'],
  } as const
  return { ...NO_ALERTS, cases: [{ rule: 'attention', subject: SUBJECT, ...told, ...change }], ...more }
}

function toldToAll(): AlertState {
  const { toldTo: _, ...told } = buildState().cases[0] as AlertCase
  return { ...NO_ALERTS, cases: [told] }
}

describe('the filters that are asked', () => {
  it('are those of a target that was not told, one for each of its names', () => {
    const tags = { tier: 'gold' }
    const targets = [{ name: 'ops', rules: PAGER.rules }, PAGER, { name: 'gold', rules: PAGER.rules, tags }]
    expect(listLateFilters(buildState(), targets, NOW)).toEqual([
      FILTER,
      { target: PAGER, name: 'payout' },
      { target: targets[2], tags },
    ])
  })

  const full = { target: 'pager', startedAt: NOW, sent: TARGET_HOUR_MAX - 1, heldBack: 0 }
  for (const [title, state, target] of [
    ['it was told', buildState({ toldTo: ['ops', 'pager'] }), {}],
    ['all were told', toldToAll(), {}],
    ['nothing was told yet', buildState({ stage: 'waiting' }), {}],
    ['it is over', buildState({ stage: 'over' }), {}],
    ['it is about a name alone', buildState({ rule: 'failed' }), {}],
    ['the target wants other rules', buildState(), { rules: ['store'] as const }],
    ['the target has no room in this hour', buildState({}, { hours: [full] }), {}],
  ] as const)
    it(`are none where ${title}`, () =>
      expect(listLateFilters(state, [{ ...PAGER, ...target }], NOW)).toEqual([]))
})

describe('what a filter has met', () => {
  it('is told to its target once, under a gid of its own', () => {
    const state = queueLateAlerts(buildState(), FILTER, SAMPLES, FINDINGS, OPTIONS)
    expect(state.pending).toEqual([
      {
        ...{ rule: 'attention', state: 'open', problem: SUBJECT, count: 60, since: NOW },
        ...{ names: ['transfer'], sampleGids: ['order-1'], targets: ['pager'], decidedAt: NOW },
        gid: `alert-attention-${SUBJECT}+pager-${Math.floor(NOW / 900_000)}`,
      },
    ])
    expect(state.cases).toEqual(buildState({ toldTo: ['ops', 'pager'] }).cases)
    expect(state.hours).toEqual([{ target: 'pager', startedAt: NOW, sent: 1, heldBack: 0 }])
    expect(queueLateAlerts(state, FILTER, SAMPLES, FINDINGS, OPTIONS)).toEqual(state)
  })

  const full = { target: 'pager', startedAt: NOW, sent: TARGET_HOUR_MAX - 1, heldBack: 3 }
  const waiting = queueLateAlerts(buildState(), FILTER, SAMPLES, FINDINGS, OPTIONS).pending
  const crowd = Array.from({ length: ALERT_PENDING_MAX }, () => waiting).flat()
  for (const [title, state, samples, findings] of [
    ['another problem', buildState(), [{ gid: 'order-1', problem: 'bank action 409' }], FINDINGS],
    ['no problem', buildState(), [{ gid: 'order-1' }], FINDINGS],
    ['what is not found any more', buildState(), SAMPLES, []],
    ['what waits for room in the hour', buildState({}, { hours: [full] }), SAMPLES, FINDINGS],
    ['what waits behind others', buildState({}, { pending: crowd }), SAMPLES, FINDINGS],
  ] as const)
    it(`is not told if it is ${title}`, () =>
      expect(queueLateAlerts(state, FILTER, samples, findings, OPTIONS)).toEqual(state))
})
