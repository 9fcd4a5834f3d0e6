import { describe, expect, it } from 'vitest'
import { abort, edit, pause, resume, retry, skip, stop } from '../../test/operator.ts'
import { ABORT, buildMessage, buildTcc, folded, SUBMIT } from '../../test/prepared.ts'
import { after, answered, buildSaga, CREATED_AT, parallel, sent, serial } from '../../test/sagas.ts'
import { startSaga } from '../../test/submissions.ts'
import type { GivenCommand } from '../rules/events.ts'
import { RULES } from '../rules/rules.ts'
import type { Transaction } from '../transaction.ts'
import { isPlanChanged, planNext, toPreviewCommand } from './plan.ts'

function plan(transaction: Transaction, command: GivenCommand, now = CREATED_AT) {
  const { steps, ...rest } = planNext(RULES, transaction, command, now)
  return {
    ...rest,
    steps: steps.map((calls) => calls.map(({ branchId, op, ran }) => `${branchId} ${op} ${ran}`)),
  }
}

const undone = after(serial(3), [
  sent([0, 'action']),
  answered(0, 'action', 'success'),
  sent([1, 'action']),
  answered(1, 'action', 'unknown'),
])

describe('what would follow', () => {
  it('An abort is undone backward, and what may have run is told from what has', () => {
    expect(plan(undone, abort())).toMatchObject({
      steps: [['02 compensate maybe'], ['01 compensate yes']],
      cannotUndo: [],
      waitsFor: ['bank.test'],
      ends: 'failed',
    })
  })

  it('An abort names what cannot be undone', () => {
    const saga = buildSaga([{ compensation: false }, {}])
    expect(plan(after(saga, [sent([0, 'action']), answered(0, 'action', 'success')]), abort())).toMatchObject(
      {
        steps: [],
        cannotUndo: ['01'],
      },
    )
  })

  it('A node that does not know what was sent takes every branch as sent', () => {
    expect(plan({ ...serial(2), sentUnknown: true }, abort()).steps).toEqual([
      ['02 compensate maybe'],
      ['01 compensate maybe'],
    ])
  })

  it('A retry goes forward to the end, whatever waits', () => {
    expect(plan(undone, retry())).toMatchObject({
      steps: [['02 action maybe'], ['03 action no']],
      ends: 'succeeded',
    })
    expect(plan(parallel(2), retry()).steps).toEqual([['01 action no', '02 action no']])
  })

  it('A pause and a stop call nothing', () => {
    expect(plan(undone, pause())).toMatchObject({ steps: [], ends: 'submitted' })
    expect(plan(undone, stop())).toMatchObject({ steps: [], ends: 'stopped' })
  })

  it('The calls of a paused one are those that follow the resume', () => {
    const paused = after(serial(1), [pause()])
    expect(plan(paused, resume()).steps).toEqual([['01 action no']])
    expect(plan(paused, retry()).refusal).toBe('paused')
  })

  it('A skip by hand ends where a person is needed', () => {
    const turned = after(serial(2), [skip('01', 'action', 'hand'), ABORT])
    expect(plan(turned, retry())).toMatchObject({ steps: [], ends: 'aborting' })
    expect(plan(turned, skip('01', 'compensate', 'hand'))).toMatchObject({ ends: 'failed' })
  })

  it('Waits and values are taken as they will come', () => {
    const saga = startSaga({
      branches: [
        { id: 'ask', wait: { signal: 'go' } },
        { id: 'hold', action: 'http://bank.test/hold' },
        { id: 'pay', action: 'http://bank.test/pay', template: { hold: { $from: 'hold', at: '/id' } } },
      ],
      delayMs: 60_000,
    })
    expect(plan(saga, retry())).toMatchObject({
      steps: [['hold action no'], ['pay action no']],
      ends: 'succeeded',
    })
  })

  it('The other kinds follow their own rules', () => {
    expect(plan(folded(buildTcc(2), [SUBMIT]), retry()).steps).toEqual([['02 confirm no'], ['01 confirm no']])
    expect(plan(buildTcc(2), abort())).toMatchObject({
      steps: [['02 cancel no'], ['01 cancel no']],
      ends: 'failed',
    })
    expect(plan(buildTcc(2), retry())).toMatchObject({ steps: [], ends: 'prepared' })
    expect(plan(buildMessage(1), retry()).steps).toEqual([['00 msg no'], ['01 action no']])
  })

  it('An edited op is planned with its new URL, without the query', () => {
    const edited = after(serial(1), [edit('01', 'action', { url: 'http://other.test/pay?k=1' })])
    expect(planNext(RULES, edited, retry(), CREATED_AT).steps[0]?.[0]?.url).toBe('http://other.test/pay')
  })

  it('A command that would be refused says so, and has no steps', () => {
    expect(plan(undone, skip('03', 'action'))).toMatchObject({ steps: [], refusal: 'op-not-due' })
  })

  it('Nothing is changed', () => {
    const before = JSON.stringify(undone)
    plan(undone, abort())
    expect(JSON.stringify(undone)).toBe(before)
  })
})

describe('a plan that was shown', () => {
  const shown = planNext(RULES, undone, abort(), CREATED_AT).planId
  const withPlan = (id: string, planId: string): GivenCommand => {
    const command = abort(id)
    return { ...command, given: { ...command.given, planId } }
  }

  it('holds for attempts and instants that change nothing of it', () => {
    const later = after(undone, [sent([1, 'action']), answered(1, 'action', 'unknown', { attempt: 2 })])
    expect(isPlanChanged(RULES, later, withPlan('a', shown), CREATED_AT + 5_000)).toBe(false)
  })

  it('has changed once something else would follow', () => {
    const further = after(undone, [
      sent([1, 'action']),
      answered(1, 'action', 'success', { attempt: 2 }),
      sent([2, 'action']),
    ])
    expect(isPlanChanged(RULES, further, withPlan('a', shown), CREATED_AT)).toBe(true)
    expect(isPlanChanged(RULES, further, abort('a'), CREATED_AT)).toBe(false)
  })

  it('matters no more once the command is done', () => {
    const done = after(undone, [withPlan('a', shown)])
    expect(isPlanChanged(RULES, done, withPlan('a', shown), CREATED_AT)).toBe(false)
  })

  it('is asked for with the op that the command is about', () => {
    expect(toPreviewCommand({ command: 'skip' })).toBeUndefined()
    expect(toPreviewCommand({ command: 'skip', op: { branchId: '01', op: 'action' } })).toMatchObject({
      type: 'skip-asked',
      doneBy: 'service',
    })
    expect(toPreviewCommand({ command: 'pause', until: 5 })).toMatchObject({ type: 'pause-asked', until: 5 })
  })
})
