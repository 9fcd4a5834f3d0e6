import { describe, expect, it } from 'vitest'
import { abort, edit, retry, retryOp, skip } from '../../test/operator.ts'
import { ABORT, buildPlainMessage, buildTcc, folded, SUBMIT } from '../../test/prepared.ts'
import { refuse } from '../../test/refuse.ts'
import { RunFixture } from '../../test/run-fixture.ts'
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
import { call, timer, WorkflowFixture } from '../../test/workflows.ts'
import { planNext, toPreviewCommand } from '../commands/plan.ts'
import { PARKED_AT } from '../ports/store.ts'
import type { WorkflowTransaction } from '../transaction.ts'
import { buildRequest } from '../values/build-request.ts'
import type { GivenCommand } from './events.ts'
import { PARKED_OP_AT } from './op-progress.ts'
import { RULES } from './rules.ts'

const TIME = { type: 'time' } as const

describe('a skipped action', () => {
  it('lets the saga go on as if it had answered success', () => {
    const skipped = after(serial(2), [skip('01', 'action')])
    expect(skipped.branches[0]?.action).toMatchObject({
      state: 'succeeded',
      byHand: { at: CREATED_AT, doneBy: 'service' },
    })
    expect(effectsText(transition(skipped, TIME, CREATED_AT).effects)).toBe('call 02 action')
  })

  it('The last one ends the saga', () => {
    expect(after(serial(1), [skip('01', 'action')])).toMatchObject({
      status: 'succeeded',
      finishedAt: CREATED_AT,
    })
  })

  it('does not end a saga whose deadline has passed by an abort of its own', () => {
    const skipped = after(serial(2, { deadlineMs: 1_000 }), [skip('01', 'action')], CREATED_AT + 5_000)
    expect(skipped.status).toBe('submitted')
    expect(transition(skipped, TIME, CREATED_AT + 5_000).next.status).toBe('aborting')
  })

  it('What the service has done is undone by its compensation, though no attempt is known', () => {
    const turned = after(serial(2), [skip('01', 'action'), ABORT])
    expect(turned).toMatchObject({ status: 'aborting', abort: { branches: [0] } })
    expect(effectsText(transition(turned, TIME, CREATED_AT).effects)).toBe('call 01 compensate')
  })

  it('What a person has done is undone by a person: the compensation is never called', () => {
    const turned = after(serial(2), [
      skip('01', 'action', 'hand'),
      sent([1, 'action']),
      answered(1, 'action', 'failure'),
    ])
    expect(turned.branches[0]?.compensate.state).toBe('by-hand')
    expect(turned.attention).toBe('compensation of branch 01 is for a person: its action was done by hand')
    const undone = after(turned, [sent([1, 'compensate']), answered(1, 'compensate', 'success')])
    expect(effectsText(transition(undone, TIME, CREATED_AT).effects)).toBe(
      `wake +${PARKED_OP_AT - CREATED_AT}`,
    )
    const ended = after(undone, [skip('01', 'compensate', 'hand'), TIME])
    expect(ended.status).toBe('failed')
    expect(ended).not.toHaveProperty('attention')
  })

  it('What came before waits until the person has undone it', () => {
    const turned = after(serial(2), [
      sent([0, 'action']),
      answered(0, 'action', 'success'),
      skip('02', 'action', 'hand'),
    ])
    expect(turned.status).toBe('succeeded')
    const running = after(serial(3), [
      sent([0, 'action']),
      answered(0, 'action', 'success'),
      skip('02', 'action', 'hand'),
      ABORT,
    ])
    expect(effectsText(transition(running, TIME, CREATED_AT).effects)).not.toContain('call')
    const undone = after(running, [skip('02', 'compensate', 'hand')])
    expect(effectsText(transition(undone, TIME, CREATED_AT).effects)).toBe('call 01 compensate')
  })

  it('A compensation that is skipped before its turn lets no other one go first', () => {
    const turned = after(serial(3), [
      sent([0, 'action']),
      answered(0, 'action', 'success'),
      { type: 'claimed', epoch: 2, sentUnknown: true },
      ABORT,
      skip('02', 'compensate', 'hand'),
    ])
    expect(effectsText(transition(turned, TIME, CREATED_AT).effects)).toBe('call 03 compensate')
  })

  it('A retry takes no mark away that only a person can end', () => {
    const turned = after(serial(2), [skip('01', 'action', 'hand'), ABORT])
    expect(after(turned, [retry()]).attention).toBe(turned.attention)
  })

  it('A compensation for a person parks the row with attention', () => {
    const fixture = RunFixture.accepted(after(serial(2), [skip('01', 'action', 'hand'), abort()])).tick()
    expect(fixture.save).toMatchObject({
      hold: { type: 'release', dueAt: PARKED_AT },
      attention: true,
      problem: '– by-hand',
      marks: ['by-hand'],
    })
  })

  it('A pivot that is done sets the mark of no return', () => {
    const saga = startSaga({
      branches: [
        { action: 'http://bank.test/a', compensation: 'http://bank.test/b' },
        { action: 'http://bank.test/pay', role: 'pivot' },
        { action: 'http://bank.test/mail', role: 'retriable' },
      ],
    })
    const skipped = after(saga, [sent([0, 'action']), answered(0, 'action', 'success'), skip('02', 'action')])
    expect(skipped).toMatchObject({ status: 'submitted', noReturnAt: CREATED_AT })
    expect(transition(skipped, ABORT, CREATED_AT).next).toBe(skipped)
  })

  it('Its answer gives the values that other branches use', () => {
    const saga = startSaga({
      branches: [
        { id: 'hold', action: 'http://bank.test/hold' },
        { id: 'pay', action: 'http://bank.test/pay', template: { hold: { $from: 'hold', at: '/id' } } },
      ],
    })
    const skipped = after(saga, [skip('hold', 'action', 'service', { answer: '{"id":"h7"}' })])
    expect(buildRequest(skipped, 1, 'action').body).toBe('{"hold":"h7"}')
    const without = after(saga, [skip('hold', 'action'), TIME])
    expect(without).toMatchObject({ status: 'aborting', abort: { cause: 'value-unusable' } })
  })

  it('An answer that still comes for it changes nothing', () => {
    const skipped = after(parallel(2), [
      sent([0, 'action']),
      { type: 'claimed', epoch: 2, sentUnknown: true },
      skip('01', 'action'),
    ])
    expect(transition(skipped, answered(0, 'action', 'failure'), CREATED_AT).next).toBe(skipped)
  })
})

describe('a skipped op of the other kinds', () => {
  it('The last confirm, cancel or delivery ends the transaction', () => {
    expect(folded(buildTcc(1), [SUBMIT, skip('01', 'confirm')]).status).toBe('succeeded')
    expect(folded(buildTcc(1), [ABORT, skip('01', 'cancel', 'hand')]).status).toBe('failed')
    expect(folded(buildTcc(2), [SUBMIT, skip('02', 'confirm')]).status).toBe('submitted')
    expect(folded(buildPlainMessage(1), [skip('01', 'action')]).status).toBe('succeeded')
    expect(folded(buildPlainMessage(2), [skip('01', 'action')]).status).toBe('submitted')
  })
})

describe('an edit', () => {
  const failing = () => {
    let saga = buildSaga([{ retry: { limit: 3 } }])
    for (const attempt of [1, 2])
      saga = after(saga, [sent([0, 'action']), answered(0, 'action', 'unknown', { attempt })])
    return saga
  }

  it('makes the op due now, with counters that begin anew and the attempts that it had', () => {
    const edited = after(failing(), [edit('01', 'action', { headers: { a: 'b' } })])
    expect(edited.branches[0]?.action).toMatchObject({ state: 'idle', attempts: 2, failures: 0, waits: 0 })
    expect(effectsText(transition(edited, TIME, CREATED_AT).effects)).toBe('call 01 action')
    const again = after(edited, [sent([0, 'action']), answered(0, 'action', 'unknown', { attempt: 3 })])
    expect(again.status).toBe('submitted')
  })

  it('of the retry policy holds for that op alone', () => {
    const policy = { initialMs: 1, factor: 1, capMs: 1, jitter: 0, limit: 1 }
    const edited = after(parallel(2), [edit('01', 'action', { retry: policy })])
    const other = after(edited, [sent([1, 'action']), answered(1, 'action', 'unknown')])
    expect(other.status).toBe('submitted')
    const own = after(edited, [sent([0, 'action']), answered(0, 'action', 'unknown')])
    expect(own).toMatchObject({ status: 'aborting', abort: { cause: 'retry-limit' } })
  })

  it('lays its fields over an earlier one of the same op', () => {
    const twice = after(serial(1), [
      edit('01', 'action', { url: 'http://a.test/', timeoutMs: 5 }, { id: 'one' }),
      edit('01', 'action', { url: 'http://b.test/' }, { id: 'two' }),
    ])
    expect(twice.edits).toEqual([{ branch: 0, op: 'action', url: 'http://b.test/', timeoutMs: 5 }])
    expect(twice.trail?.[1]).toMatchObject({
      before: 'url http://a.test/, timeoutMs 5',
      after: 'url http://b.test/',
    })
  })

  it('replaces the template of the part that it edits, so that a missing value matters no more', () => {
    const saga = startSaga({
      branches: [
        { id: 'hold', action: 'http://bank.test/hold' },
        { id: 'pay', action: 'http://bank.test/pay', role: 'pivot', template: { $from: 'hold', at: '/id' } },
      ],
    })
    const edited = after(saga, [edit('pay', 'action', { body: '"h7"', contentType: 'application/json' })])
    const ready = after(edited, [sent([0, 'action']), answered(0, 'action', 'success'), TIME, TIME])
    expect(ready.status).toBe('submitted')
    expect(buildRequest(ready, 1, 'action')).toMatchObject({ body: '"h7"', url: 'http://bank.test/pay' })
  })
})

describe('the retry of one op', () => {
  it('leaves the waits and the mark of others alone', () => {
    const waiting = after(parallel(2), [
      sent([0, 'action'], [1, 'action']),
      answered(0, 'action', 'unknown'),
      answered(1, 'action', 'unknown'),
    ])
    const marked = { ...waiting, attention: 'look', claimsUnanswered: 3 }
    const retried = after(marked, [retryOp('01', 'action')])
    expect(effectsText(transition(retried, TIME, CREATED_AT).effects)).toBe('call 01 action, wake +200')
    expect(retried).not.toHaveProperty('attention')
    expect(retried.claimsUnanswered).toBe(0)
    const [first, second] = marked.branches
    if (first === undefined || second === undefined) throw new Error('no such branch')
    const parked = { ...second, action: { ...second.action, nextAt: PARKED_OP_AT } }
    expect(after({ ...marked, branches: [first, parked] }, [retryOp('01', 'action')]).attention).toBe('look')
  })
})

describe('a skipped wait', () => {
  const PAY = { id: 'pay', action: 'http://bank.test/pay', compensation: 'http://bank.test/undo' }
  const startWaiting = (wait: object, doneBy: 'service' | 'hand' = 'service') => {
    const open = after(startSaga({ branches: [{ id: 'cool', wait }, PAY] }), [TIME])
    return { open, command: skip('cool', 'action', doneBy) }
  }

  it.each(['service', 'hand'] as const)('ends a timer, and the saga goes on at once: by %s', (doneBy) => {
    const { open, command } = startWaiting({ ms: 5_000 }, doneBy)
    // A timer calls nothing, so nothing has to be confirmed though the list of calls is not known.
    expect(refuse({ ...open, sentUnknown: true }, command)).toBeUndefined()
    const skipped = after(open, [command])
    expect(skipped.branches[0]?.action).toMatchObject({ state: 'succeeded', byHand: { doneBy } })
    expect(effectsText(transition(skipped, TIME, CREATED_AT).effects)).toBe('call 02 action')
    expect(refuse(skipped, skip('cool', 'action', doneBy, { id: 'again' }))).toBe('op-done')
  })

  it.each([
    ['a wait for a signal', { signal: 'go' }, [TIME], skip('cool', 'action')],
    ['a timer that has not opened', { ms: 5_000 }, [], skip('cool', 'action')],
    ['a timer of a saga that has turned around', { ms: 5_000 }, [TIME, ABORT], skip('cool', 'action')],
    ['an edit of a timer', { ms: 5_000 }, [TIME], edit('cool', 'action', { timeoutMs: 500 })],
  ] as const)('is refused: %s', (_, wait, events, command) => {
    const waiting = after(startSaga({ branches: [PAY, { id: 'cool', wait }] }), [
      sent([0, 'action']),
      ...(events.length === 0 ? [] : [answered(0, 'action', 'success')]),
      ...events,
    ])
    expect(refuse(waiting, command)).toBe('op-not-due')
  })
})

describe('a skipped step of a workflow', () => {
  /** Gives the command to a row that no node runs. */
  const give = (workflow: WorkflowTransaction, command: GivenCommand) =>
    WorkflowFixture.claimed(RULES.fold(workflow, command, CREATED_AT).next)

  it('A timer that is ended lets the code be asked again', () => {
    const fixture = WorkflowFixture.accepted().plan({ next: [timer('cool', 5_000)] }, 'all')
    fixture.settled().tick().settled()
    const { branch } = fixture.workflow.steps[0] ?? {}
    const { workflow } = give(fixture.workflow, skip(branch?.id ?? '', 'action'))
    expect(workflow.branches[0]?.action).toMatchObject({ state: 'succeeded', byHand: {} })
    expect([workflow.plan.number, workflow.order]).toEqual([2, [0]])
  })

  it('A call whose answer was lost gets the answer that a person gives, and the code goes on with that', () => {
    const fixture = WorkflowFixture.accepted()
      .plan({ next: [call('a')] }, 'all')
      .saved()
    fixture.answer('a', 'action', 'success', 'y'.repeat(70_000)).settled().tick().settled()
    expect([fixture.workflow.plan.number, fixture.workflow.attention]).toEqual([
      1,
      expect.stringContaining('answer of a'),
    ])
    const { workflow } = fixture
    const id = workflow.steps[0]?.branch.id ?? ''
    const answer = (value: unknown, doneBy: 'service' | 'hand' = 'service') =>
      skip(id, 'action', doneBy, { answer: JSON.stringify(value) })
    expect(refuse(workflow, answer('y'.repeat(70_000)))).toBe('answer-too-large')
    expect(refuse(workflow, answer({ paid: 7 }, 'hand'))).toBe('op-not-due')
    expect(refuse(workflow, skip(id, 'action'))).toBe('answer-required')
    const preview = toPreviewCommand({ command: 'skip', op: { branchId: id, op: 'action' } })
    expect(preview && planNext(RULES, workflow, preview, CREATED_AT)).not.toHaveProperty('refusal')
    expect(refuse(workflow, edit(id, 'action', { timeoutMs: 500 }))).toBe('op-not-due')
    const given = give(workflow, answer({ paid: 7 }))
    expect(given.workflow).not.toHaveProperty('attention')
    expect(given.workflow.plan.number).toBe(2)
    expect(given.planBody).toContain('{"paid":7}')
    expect(given.workflow.branches[0]?.action).not.toHaveProperty('error')
    expect(refuse(given.workflow, answer({ paid: 7 }))).toBeUndefined()
    expect(refuse(given.workflow, answer({ paid: 8 }))).toBe('command-conflict')
  })

  it('No other step is skipped', () => {
    const fixture = WorkflowFixture.accepted()
      .plan({ next: [call('a'), call('b')] }, 'all')
      .saved()
    fixture.answer('a', 'action', 'success', 1).answer('b', 'action', 'unknown').settled()
    const [a, b] = fixture.workflow.steps.map(({ branch }) => skip(branch.id, 'action'))
    expect([a, b].map((command) => command && refuse(fixture.workflow, command))).toEqual([
      'op-done',
      'op-not-due',
    ])
  })
})
