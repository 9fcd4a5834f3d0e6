import { describe, expect, it } from 'vitest'
import { abort, pause, resume, stop } from '../../test/operator.ts'
import { ABORT, buildTcc, folded, SUBMIT } from '../../test/prepared.ts'
import { NODE_START, RunFixture } from '../../test/run-fixture.ts'
import {
  after,
  answered,
  buildSaga,
  CREATED_AT,
  effectsText,
  parallel,
  sent,
  serial,
} from '../../test/sagas.ts'
import { startSaga } from '../../test/submissions.ts'
import { transition } from '../../test/transition.ts'
import { PARKED_AT } from '../ports/store.ts'
import { isPaused } from './pause.ts'

const TIME = { type: 'time' } as const

describe('a pause', () => {
  it('lets no call start, and asks for one look at its end', () => {
    expect(effectsText(transition(parallel(2), pause('p', CREATED_AT + 60_000), CREATED_AT).effects)).toBe(
      'wake +60000',
    )
    expect(effectsText(transition(parallel(2), resume(), CREATED_AT).effects)).toBe(
      'call 01 action, call 02 action',
    )
  })

  it('ends by itself at its instant, without a save', () => {
    const paused = after(parallel(1), [pause('p', CREATED_AT + 60_000)])
    expect([isPaused(paused, CREATED_AT + 59_999), isPaused(paused, CREATED_AT + 60_000)]).toEqual([
      true,
      false,
    ])
    const { next, effects } = transition(paused, TIME, CREATED_AT + 60_000)
    expect(next).not.toHaveProperty('paused')
    expect(effectsText(effects)).toBe('call 01 action')
  })

  it('Calls in flight end and count, and what follows from them waits', () => {
    const paused = after(serial(2), [sent([0, 'action']), pause(), answered(0, 'action', 'success')])
    expect(paused.branches[0]?.action.state).toBe('succeeded')
    expect(effectsText(transition(paused, TIME, CREATED_AT).effects)).not.toContain('call')
    const turned = after(serial(1), [sent([0, 'action']), pause(), answered(0, 'action', 'failure')])
    expect(turned.status).toBe('aborting')
    expect(effectsText(transition(turned, TIME, CREATED_AT).effects)).not.toContain('call')
    expect(effectsText(transition(turned, resume(), CREATED_AT).effects)).toBe('call 01 compensate')
  })

  it('A success that ends the transaction ends it, and no pause is left', () => {
    const ended = after(serial(1), [sent([0, 'action']), pause(), answered(0, 'action', 'success')])
    expect(ended.status).toBe('succeeded')
    expect(ended).not.toHaveProperty('paused')
    expect(ended.trail).toHaveLength(1)
    expect(after(serial(1), [pause(), stop()])).not.toHaveProperty('paused')
  })

  it('A deadline that passes meanwhile is decided at the resume', () => {
    const paused = after(serial(1, { deadlineMs: 1_000 }), [pause()])
    expect(transition(paused, TIME, CREATED_AT + 5_000).next).toBe(paused)
    const resumed = transition(paused, resume(), CREATED_AT + 5_000).next
    expect(resumed.status).toBe('submitted')
    const { next } = transition(resumed, TIME, CREATED_AT + 5_000)
    expect(next).toMatchObject({ status: 'aborting', abort: { cause: 'deadline' } })
  })

  it('A wait whose time is over ends at the resume', () => {
    const waiting = after(
      startSaga({ branches: [{ wait: { ms: 1_000 } }, { action: 'http://bank.test/a' }] }),
      [TIME, pause()],
    )
    const later = transition(waiting, TIME, CREATED_AT + 5_000).next
    expect(later.branches[0]).toMatchObject({ action: { state: 'open' } })
    const resumed = after(later, [resume(), TIME], CREATED_AT + 5_000)
    expect(resumed.branches[0]?.action.state).toBe('succeeded')
  })

  it('An abort and a submit are decided, and their calls wait', () => {
    const aborted = after(serial(1), [
      sent([0, 'action']),
      answered(0, 'action', 'unknown'),
      pause(),
      abort(),
    ])
    expect(aborted.status).toBe('aborting')
    expect(effectsText(transition(aborted, TIME, CREATED_AT).effects)).not.toContain('call')
    const submitted = folded(buildTcc(1), [pause(), SUBMIT])
    expect(submitted.status).toBe('submitted')
    expect(effectsText(transition(submitted, TIME, CREATED_AT).effects)).not.toContain('call')
    expect(folded(buildTcc(1), [pause(), ABORT]).status).toBe('aborting')
  })

  it('A new owner takes over what the last one had in flight, and calls nothing', () => {
    const paused = after(serial(1), [sent([0, 'action']), pause()])
    const claimed = { type: 'claimed', epoch: 2, sentUnknown: true } as const
    const { next, effects } = transition(paused, claimed, CREATED_AT)
    expect(next).toMatchObject({ epoch: 2, sentUnknown: true, branches: [{ action: { state: 'idle' } }] })
    expect(effectsText(effects)).not.toContain('call')
  })
})

describe('the run of a paused transaction', () => {
  it('is given back at once and parked, without attention', () => {
    const fixture = RunFixture.accepted(serial(1)).step({ type: 'command', command: pause() })
    expect(fixture.save).toMatchObject({
      hold: { type: 'release', dueAt: PARKED_AT },
      attention: false,
      format: 5,
      marks: ['paused'],
      sentList: 'released',
    })
    expect(fixture.saved().end).toMatchObject({ how: 'released' })
  })

  it('is given back until the instant at which the pause ends', () => {
    const until = CREATED_AT + 3_600_000
    const fixture = RunFixture.accepted(serial(1)).step({ type: 'command', command: pause('p', until) })
    expect(fixture.save?.hold).toEqual({ type: 'release', dueAt: until })
  })

  it('The pause is durable while calls are in flight, and the row is given back when they have ended', () => {
    const fixture = RunFixture.accepted(buildSaga([{}, {}]))
      .tick()
      .step({ type: 'command', command: pause() })
    expect(fixture.save?.hold).toEqual({ type: 'keep' })
    expect(fixture.saved().told).toBe(2)
    expect(fixture.saves).toHaveLength(1)
    fixture.answer(0, 'action', 'success')
    expect(fixture.calls).toEqual([])
    expect(fixture.save?.hold).toMatchObject({ type: 'release' })
  })

  it('A short pause is waited for in memory, and its end is a step', () => {
    const fixture = RunFixture.accepted(serial(1)).step({
      type: 'command',
      command: pause('p', CREATED_AT + 500),
    })
    expect(fixture.saved().wakeAt).toBe(NODE_START + 500)
    expect(fixture.calls).toEqual([])
    expect(fixture.tick(500).calls).toEqual(['01 action #1'])
  })
})
