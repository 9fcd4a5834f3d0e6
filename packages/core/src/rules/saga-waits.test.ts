import { SIGNALS_KEPT_MAX, WAIT_END_MS_MAX } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { refuse } from '../../test/refuse.ts'
import { after, answered, buildRow, CREATED_AT, effectsText, sent } from '../../test/sagas.ts'
import { startSaga } from '../../test/submissions.ts'
import { transition } from '../../test/transition.ts'
import { AssertionError } from '../errors.ts'
import { decodeTransaction, toFormat } from '../record/record.ts'
import { viewTransaction } from '../record/view.ts'
import type { SagaTransaction, Signal } from '../transaction.ts'
import { buildRequest } from '../values/build-request.ts'
import type { TransactionEvent } from './events.ts'
import { sagaEffects } from './saga-effects.ts'

const BANK = 'http://bank.test'
const HOLD = { id: 'hold', action: `${BANK}/holds`, compensation: `${BANK}/release` }
const PAY = { id: 'pay', action: `${BANK}/pay` }
const DAY_MS = 24 * 3_600_000

function startWith(...branches: readonly object[]): SagaTransaction {
  return startSaga({ branches })
}

/** Applies the event and expects how durable its change must be. */
function step(
  saga: SagaTransaction,
  event: TransactionEvent,
  now: number,
  durability?: 'strong' | 'lazy' | 'none',
): SagaTransaction {
  const folded = transition(saga, event, now)
  if (durability !== undefined) expect(folded.durability).toBe(durability)
  if (folded.next.kind !== 'saga') throw new Error('not a saga')
  return folded.next
}

const TIME: TransactionEvent = { type: 'time' }

function signal(
  id: string,
  payload?: unknown,
  name = 'approval',
): { readonly type: 'signal-asked'; readonly signal: Signal } {
  const text = payload === undefined ? {} : { payload: JSON.stringify(payload) }
  return { type: 'signal-asked', signal: { name, id, digest: `${name} ${JSON.stringify(payload)}`, ...text } }
}

function succeed(branch: number): readonly TransactionEvent[] {
  return [sent([branch, 'action']), answered(branch, 'action', 'success')]
}

describe('A timer', () => {
  const saga = startWith({ id: 'cool', wait: { ms: 5_000 } }, PAY)

  it('A timer opens lazily, wakes the saga at its end and lets the next branch be called then', () => {
    const open = step(saga, TIME, CREATED_AT, 'lazy')
    expect(open.branches[0]?.action).toMatchObject({
      state: 'open',
      attempts: 0,
      startedAt: CREATED_AT,
      nextAt: CREATED_AT + 5_000,
    })
    expect(sagaEffects(open, CREATED_AT)).toEqual([{ type: 'wake-at', at: CREATED_AT + 5_000 }])
    expect(step(open, TIME, CREATED_AT + 4_999, 'none')).toBe(open)
    const passed = step(open, TIME, CREATED_AT + 5_000, 'lazy')
    expect(passed.branches[0]?.action).toMatchObject({ state: 'succeeded', endedAt: CREATED_AT + 5_000 })
    expect(effectsText(sagaEffects(passed, CREATED_AT + 5_000))).toBe('call 02 action')
  })

  it('A timer opens only when the branches before it have succeeded', () => {
    const later = startWith(HOLD, { id: 'cool', wait: { ms: 5_000 } })
    expect(step(later, TIME, CREATED_AT).branches[1]?.action.state).toBe('idle')
    const held = after(later, succeed(0))
    expect(step(held, TIME, CREATED_AT + 9).branches[1]?.action.nextAt).toBe(CREATED_AT + 5_009)
  })

  it('A timer of no length passes at once, and so does an instant that is over', () => {
    const both = startWith({ id: 'a', wait: { ms: 0 } }, { id: 'b', wait: { until: CREATED_AT - 1 } }, PAY)
    expect(effectsText(sagaEffects(step(both, TIME, CREATED_AT), CREATED_AT))).toBe('call 03 action')
  })

  it('A saga that consists of timers ends when the last one has passed', () => {
    const open = step(startWith({ id: 'a', wait: { ms: 7 } }), TIME, CREATED_AT)
    expect(step(open, TIME, CREATED_AT + 7, 'strong').status).toBe('succeeded')
  })

  it('A retry by an operator does not end a timer', () => {
    const open = step(saga, TIME, CREATED_AT)
    const retried = step(open, { type: 'retry-asked' }, CREATED_AT + 1)
    expect(retried.branches[0]?.action).toEqual(open.branches[0]?.action)
  })

  it('The deadline counts on during a timer, and an abort closes it', () => {
    const timed = { ...saga, definition: { ...saga.definition, deadlineMs: 1_000 } }
    const open = step(timed, TIME, CREATED_AT)
    expect(sagaEffects(open, CREATED_AT)).toEqual([{ type: 'wake-at', at: CREATED_AT + 1_000 }])
    const aborted = step(open, TIME, CREATED_AT + 1_000, 'strong')
    expect(aborted).toMatchObject({ status: 'aborting', abort: { cause: 'deadline', branches: [] } })
    expect(aborted.branches[0]?.action.state).toBe('idle')
    expect(step(aborted, TIME, CREATED_AT + 1_001).status).toBe('failed')
  })

  it('The time of a timer may be the answer of an earlier branch', () => {
    const until = { $from: 'hold', at: '/expiresAt' }
    const asked = startWith(HOLD, { id: 'pickup', wait: { until } })
    const at = new Date(CREATED_AT + 60_000).toISOString()
    for (const expiresAt of [JSON.stringify(at), String(CREATED_AT + 60_000)]) {
      const held = after(asked, [
        sent([0, 'action']),
        answered(0, 'action', 'success', { body: `{"expiresAt":${expiresAt}}` }),
      ])
      expect(step(held, TIME, CREATED_AT + 5).branches[1]?.action.nextAt).toBe(CREATED_AT + 60_000)
    }
  })

  it.each([
    ['"tomorrow"', 'cannot stand in the time of a wait'],
    ['-1', 'cannot stand in the time of a wait'],
    ['"2026-11-26T10:00:00"', 'cannot stand in the time of a wait'],
    ['null', 'cannot stand in the time of a wait'],
    [String(CREATED_AT + WAIT_END_MS_MAX + 1), 'would end over'],
  ])('The saga turns around when a branch answers the time %s', (text, reason) => {
    const asked = startWith(HOLD, { id: 'pickup', wait: { until: { $from: 'hold', at: '/at' } } })
    const held = after(asked, [
      sent([0, 'action']),
      answered(0, 'action', 'success', { body: `{"at":${text}}` }),
    ])
    const aborted = step(held, TIME, CREATED_AT + 5, 'strong')
    expect(aborted).toMatchObject({
      status: 'aborting',
      abort: { cause: 'value-unusable', branch: 1, reason: expect.stringContaining(reason) },
    })
  })

  it.each([
    ['action', { ...PAY, headers: { at: { $from: 'hold', at: '/at' } } }],
    ['wait', { id: 'pickup', wait: { until: { $from: 'hold', at: '/at' } } }],
  ])(
    'A saga does not rest before it turns around, when the %s after a wait cannot use its value',
    (_, last) => {
      const started = startWith(
        HOLD,
        { id: 'ok', wait: { signal: 'a', timeoutMs: 75, onTimeout: 'continue' } },
        last,
      )
      const held = after(started, [
        sent([0, 'action']),
        answered(0, 'action', 'success', { body: '{"at":null}' }),
        TIME,
      ])
      const noted = { ...held, attention: 'claimed 3 times without progress' } as SagaTransaction
      const passed = step(noted, TIME, CREATED_AT + 75, 'strong')
      // Nothing is decided on top of an unsaved change, so the saga asks to be looked at again at once.
      expect(passed.status).toBe('submitted')
      expect(sagaEffects(passed, CREATED_AT + 75)).toEqual([{ type: 'wake-at', at: CREATED_AT + 75 }])
      expect(step(passed, TIME, CREATED_AT + 75, 'strong')).toMatchObject({
        status: 'aborting',
        abort: { cause: 'value-unusable', branch: 2 },
      })
    },
  )

  it('A crash before the opening was saved opens the timer again, with its whole time', () => {
    const reclaimed = step(saga, { type: 'claimed', epoch: 2, sentUnknown: true }, CREATED_AT + 700, 'lazy')
    expect(reclaimed.branches[0]?.action.nextAt).toBe(CREATED_AT + 5_700)
  })
})

describe('A wait for a signal', () => {
  const approval = { id: 'approved', wait: { signal: 'approval', timeoutMs: DAY_MS } }
  const PAY_BY = { ...PAY, template: { by: { $from: 'approved', at: '/by' } } }
  const saga = startWith(approval, PAY_BY)
  const open = step(saga, TIME, CREATED_AT)

  it('A signal ends the wait with a strong change, and its payload is the answer', () => {
    const taken = step(open, signal('click-1', { by: 'kim' }), CREATED_AT + 9, 'strong')
    expect(taken.branches[0]?.action).toMatchObject({ state: 'succeeded', values: ['"kim"'] })
    expect(taken.signals).toMatchObject([{ id: 'click-1', takenBy: 0 }])
    expect(taken.signals?.[0]).not.toHaveProperty('payload')
    expect(buildRequest(taken, 1, 'action').body).toBe('{"by":"kim"}')
  })

  it.each([
    ['is used', PAY_BY, { values: ['"kim"'] }],
    ['is not used', PAY, {}],
  ])(
    'A signal that comes before the wait opens is kept and taken strong when it opens, if its payload %s',
    (_, user, answer) => {
      const kept = step(
        startWith(HOLD, approval, user),
        signal('click-1', { by: 'kim' }),
        CREATED_AT + 1,
        'strong',
      )
      expect(kept.signals?.[0]).not.toHaveProperty('takenBy')
      const passed = step(after(kept, succeed(0)), TIME, CREATED_AT + 5, 'strong')
      expect(passed.branches[1]?.action).toMatchObject({ state: 'succeeded', ...answer })
      expect(passed.signals?.[0]?.takenBy).toBe(1)
    },
  )

  it('Each wait takes one signal, and the oldest of its name comes first', () => {
    const two = startWith(approval, { ...approval, id: 'again' }, PAY)
    const kept = [signal('1'), signal('2'), signal('3')].reduce(
      (next, each) => step(next, each, CREATED_AT),
      two,
    )
    const first = step(kept, TIME, CREATED_AT + 1, 'strong')
    const passed = step(first, TIME, CREATED_AT + 2, 'strong')
    expect(passed.signals?.map(({ id, takenBy }) => [id, takenBy])).toEqual([
      ['1', 0],
      ['2', 1],
      ['3', undefined],
    ])
  })

  it('The same signal again changes nothing', () => {
    const taken = step(open, signal('click-1', { by: 'kim' }), CREATED_AT + 9)
    expect(step(taken, signal('click-1', { by: 'kim' }), CREATED_AT + 10, 'none')).toBe(taken)
  })

  it('A signal that is late turns the saga around only when that is durable', () => {
    const closed = step(open, TIME, CREATED_AT + DAY_MS, 'strong')
    expect(closed).toMatchObject({ status: 'submitted' })
    expect(closed.branches[0]?.action).toMatchObject({ state: 'failed', error: 'signal-timeout' })
    // An answer of another branch may come before the save, so it decides nothing.
    expect(step(closed, { type: 'retry-asked' }, CREATED_AT + DAY_MS).status).toBe('submitted')
    const aborted = step(closed, TIME, CREATED_AT + DAY_MS, 'strong')
    expect(aborted).toMatchObject({ status: 'aborting', abort: { cause: 'signal-timeout', branch: 0 } })
  })

  it('A saga goes on without the signal if the wait says so, once that is durable', () => {
    const going = startWith(
      { id: 'approved', wait: { signal: 'approval', timeoutMs: 50, onTimeout: 'continue' } },
      { ...PAY, template: { by: { $from: 'approved', at: '/by', else: 'timer' } } },
    )
    const passed = step(step(going, TIME, CREATED_AT), TIME, CREATED_AT + 50, 'strong')
    expect(passed.branches[0]?.action).toMatchObject({ state: 'succeeded', error: 'signal-timeout' })
    expect(buildRequest(passed, 1, 'action').body).toBe('{"by":"timer"}')
  })

  it('A saga that is done ends well, even if its deadline passes before that is decided', () => {
    const limited = { id: 'limited', wait: { signal: 'approval', timeoutMs: 500, onTimeout: 'continue' } }
    const open = step(startSaga({ branches: [limited], deadlineMs: 1_000 }), TIME, CREATED_AT, 'lazy')
    const done = step(open, TIME, CREATED_AT + 500, 'strong')
    expect(done.status).toBe('submitted')
    expect(step(done, TIME, CREATED_AT + 2_000, 'strong').status).toBe('succeeded')
  })

  it('A wait without a timeout ends 30 days after the accept, and a longer one is cut', () => {
    for (const wait of [{ signal: 'a' }, { signal: 'a', timeoutMs: WAIT_END_MS_MAX }]) {
      const late = step(startWith({ id: 'w', wait }), TIME, CREATED_AT + 7)
      expect(late.branches[0]?.action.nextAt).toBe(CREATED_AT + WAIT_END_MS_MAX)
    }
  })

  it('A record with a signal is read back as it was, has the new format, and shows no payload', () => {
    const kept = step(startWith(HOLD, approval, PAY), signal('click-1', { pin: 's3cr3t' }), CREATED_AT)
    expect(decodeTransaction(buildRow(kept))).toEqual(kept)
    expect(toFormat(kept)).toBe(4)
    const view = viewTransaction(kept, 'submitted')
    expect(JSON.stringify(view)).not.toContain('s3cr3t')
    expect(view.signals).toEqual([{ name: 'approval', id: 'click-1', state: 'kept' }])
    expect(view.branches[1]).toMatchObject({
      wait: { signal: 'approval', timeoutMs: DAY_MS, onTimeout: 'abort' },
      ops: [{ op: 'action', state: 'idle', attempts: 0 }],
    })
  })

  it('A view shows only signals and a mark that are durable', () => {
    const taken = step(open, signal('click-1'), CREATED_AT)
    expect(viewTransaction(taken, 'submitted').signals).toHaveLength(1)
    expect(viewTransaction(taken, 'submitted', open)).not.toHaveProperty('signals')
    expect(viewTransaction({ ...taken, noReturnAt: 7 }, 'submitted', open)).not.toHaveProperty('noReturnAt')
  })

  it.each([
    ['a name that no branch waits for', open, signal('1', undefined, 'other'), 'signal-unknown'],
    [
      'an id that came with another payload',
      step(open, signal('1', 1), CREATED_AT),
      signal('1', 2),
      'signal-exists',
    ],
    [
      'an aborting saga',
      step(after(startWith(HOLD, approval), [sent([0, 'action'])]), { type: 'abort-asked' }, CREATED_AT),
      signal('1'),
      'turned-around',
    ],
    ['a final saga', step(open, { type: 'stop-asked' }, CREATED_AT), signal('1'), 'already-final'],
  ] as const)('A signal is refused for %s', (_, refusing, command, refusal) => {
    expect(refuse(refusing, command)).toBe(refusal)
  })

  it('A signal that the saga has already is not refused after the end', () => {
    const taken = step(open, signal('1'), CREATED_AT)
    expect(refuse(step(taken, { type: 'stop-asked' }, CREATED_AT), signal('1'))).toBeUndefined()
  })

  it('A saga keeps a bounded number of signals', () => {
    const later = startWith(HOLD, approval)
    const many = Array.from({ length: SIGNALS_KEPT_MAX }, (_, index) => signal(String(index)).signal)
    expect(refuse({ ...later, signals: many.slice(1) }, signal('x'))).toBeUndefined()
    expect(refuse({ ...later, signals: many }, signal('x'))).toBe('too-many-signals')
    const large = many.slice(0, 16).map((each) => ({ ...each, payload: 'é'.repeat(8 * 1024) }))
    expect(refuse({ ...later, signals: large }, signal('x', 1))).toBe('too-many-signals')
  })
})

describe('The point of no return', () => {
  const PIVOT = { ...PAY, role: 'pivot' }
  const MAIL = { id: 'mail', action: `${BANK}/mail`, role: 'retriable' }
  const saga = startWith(HOLD, PIVOT, MAIL)
  const held = after(saga, succeed(0))
  const marked = step(held, TIME, CREATED_AT + 1, 'strong')

  it('The mark is a strong change before the pivot is called', () => {
    expect(effectsText(sagaEffects(held, CREATED_AT))).toBe('wake +0')
    expect(marked.noReturnAt).toBe(CREATED_AT + 1)
    expect(effectsText(sagaEffects(marked, CREATED_AT + 1))).toBe('call 02 action')
    expect(step(marked, TIME, CREATED_AT + 2, 'none')).toBe(marked)
    expect(decodeTransaction(buildRow(marked))).toEqual(marked)
  })

  it.each([
    ['a literal instant that is too late', { until: CREATED_AT + WAIT_END_MS_MAX + DAY_MS }],
    ['a literal wait that ends too late', { ms: WAIT_END_MS_MAX }],
    ['a value of the pivot that is no time', { ms: { $from: 'pay', at: '/t' } }],
    ['a value of the pivot that is too late', { until: { $from: 'pay', at: '/late' } }],
  ])(
    'A wait behind the mark opens and ends at its bound, since nothing can turn the saga around: %s',
    (_, wait) => {
      const saga = startWith(
        PIVOT,
        { id: 'cool', wait },
        { id: 'ship', action: `${BANK}/ship`, role: 'retriable' },
      )
      const body = JSON.stringify({ t: 'never', late: '2099-01-01T00:00:00Z' })
      const paid = after(saga, [TIME, sent([0, 'action']), answered(0, 'action', 'success', { body })])
      const open = step(paid as SagaTransaction, TIME, CREATED_AT + 5)
      const lastAt = CREATED_AT + WAIT_END_MS_MAX
      expect(open).toMatchObject({ status: 'submitted', noReturnAt: CREATED_AT })
      expect(open.branches[1]?.action).toMatchObject({ state: 'open', nextAt: lastAt })
      const ended = step(open, TIME, lastAt)
      expect(ended.branches[1]?.action.state).toBe('succeeded')
      expect(effectsText(sagaEffects(ended, lastAt))).toContain('call 03 action')
      // It may have taken longer than the bound to come here.
      expect(step(paid as SagaTransaction, TIME, lastAt + 5).branches[1]?.action.state).toBe('succeeded')
    },
  )

  it('A saga with retriables and without a pivot is marked before the first of them', () => {
    const sure = step(after(startWith(HOLD, MAIL), succeed(0)), TIME, CREATED_AT + 1, 'strong')
    expect(sure.noReturnAt).toBe(CREATED_AT + 1)
  })

  it('With the mark no deadline and no abort turns the saga around', () => {
    const timed = { ...marked, definition: { ...marked.definition, deadlineMs: 10 } }
    expect(step(timed, TIME, CREATED_AT + 11, 'none').status).toBe('submitted')
    expect(effectsText(sagaEffects(timed, CREATED_AT + 11))).toBe('call 02 action')
    expect(refuse(marked, { type: 'abort-asked' })).toBe('no-return')
    expect(step(marked, { type: 'abort-asked' }, CREATED_AT + 2, 'none')).toBe(marked)
    expect(refuse(marked, { type: 'stop-asked' })).toBeUndefined()
  })

  it('The failure of the pivot removes the mark and turns the saga around', () => {
    const failed = step(
      after(marked, [sent([1, 'action'])]),
      answered(1, 'action', 'failure'),
      CREATED_AT + 3,
      'strong',
    )
    expect(failed).toMatchObject({ status: 'aborting', abort: { cause: 'branch-failed', branch: 1 } })
    expect(failed).not.toHaveProperty('noReturnAt')
    expect(effectsText(sagaEffects(failed, CREATED_AT + 3))).toBe('call 01 compensate')
  })

  it('An unknown pivot is asked again for ever, also beyond the limit of the saga', () => {
    const limited = {
      ...marked,
      definition: { ...marked.definition, retry: { ...marked.definition.retry, limit: 1 } },
    }
    const asked = step(
      after(limited, [sent([1, 'action'])]),
      answered(1, 'action', 'unknown'),
      CREATED_AT + 3,
      'strong',
    )
    expect(asked).toMatchObject({ status: 'submitted', noReturnAt: CREATED_AT + 1 })
    expect(asked.branches[1]?.action.state).toBe('waiting')
  })

  it('The failure of a retriable counts as unknown, and a person is told', () => {
    const paid = after(marked, succeed(1))
    const asked = step(
      after(paid, [sent([2, 'action'])]),
      answered(2, 'action', 'failure'),
      CREATED_AT + 9,
      'strong',
    )
    expect(asked).toMatchObject({
      status: 'submitted',
      attention: 'action of branch mail answered failure',
    })
    expect(asked.branches[2]?.action.state).toBe('waiting')
  })

  it('A retriable whose request cannot be built waits for a person', () => {
    const template = { id: { $from: 'pay', at: '/id' } }
    const building = startWith(HOLD, PIVOT, { ...MAIL, template })
    const paid = after(step(after(building, succeed(0)), TIME, CREATED_AT), [
      sent([1, 'action']),
      answered(1, 'action', 'success', { body: '{}' }),
    ])
    const told = step(paid, TIME, CREATED_AT + 5)
    expect(told).toMatchObject({
      status: 'submitted',
      attention: expect.stringContaining('mail cannot be sent'),
    })
    expect(effectsText(sagaEffects(told, CREATED_AT + 5))).toContain('wake')
  })

  it('The view shows the roles and the mark', () => {
    const view = viewTransaction(marked, 'submitted')
    expect(view.noReturnAt).toBe(CREATED_AT + 1)
    expect(view.branches.map(({ role }) => role)).toEqual([undefined, 'pivot', 'retriable'])
  })
})

describe('A damaged record of a wait', () => {
  const open = step(startWith({ id: 'w', wait: { signal: 'a' } }, PAY), TIME, CREATED_AT)
  const row = buildRow(open)

  it.each([
    ['an open wait without an end', { progress: row.progress.replace(/"nextAt":\d+,?/, '') }],
    ['an open call', { progress: row.progress.replace('"b":[{', '"b":[{},{') }],
    ['a wait for nothing', { definition: row.definition.replace('"type":"signal"', '"type":"none"') }],
    ['a signal that is no object', { progress: row.progress.replace('{', '{"s":[1],') }],
    ['a mark that is no instant', { progress: row.progress.replace('{', '{"n":"now",') }],
  ])('A record with %s is refused, so that its row is parked for a person', (_, damage) => {
    expect(() => decodeTransaction({ ...row, ...damage })).toThrow(AssertionError)
  })

  it('The record without the damage is read', () => {
    expect(decodeTransaction(row)).toEqual(open)
  })
})
