import { type Gid, PAYLOAD_BYTES_MAX } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { NODE_START, RunFixture } from '../../test/run-fixture.ts'
import {
  after,
  answered,
  buildAnswer,
  buildSaga,
  CREATED_AT,
  parallel,
  sent,
  serial,
} from '../../test/sagas.ts'
import { accepted, startSaga } from '../../test/submissions.ts'
import { PARKED_AT } from '../ports/store.ts'
import { newTransaction } from '../rules/accept.ts'
import { isRetrying } from './plan-save.ts'

/** Reads the branches from the save that the last step asked for. */
function savedBranches(fixture: RunFixture): unknown {
  return JSON.parse(fixture.save?.progress ?? '{}').b
}

describe('one save is in flight', () => {
  it('Changes during a save go into the next save', () => {
    const fixture = RunFixture.accepted(buildSaga([{ after: [] }, { after: [] }, { after: [] }])).tick()
    fixture.answer(0, 'action', 'failure')
    expect(fixture.types).toEqual(['save'])
    fixture.answer(1, 'action', 'success')
    expect(fixture.types).toEqual([])
    fixture.step({ type: 'command', command: { type: 'retry-asked' } })
    expect(fixture.types).toEqual([])
    fixture.saved()
    expect(fixture.told).toBe(2)
    expect(fixture.save).toMatchObject({ version: 2, status: 'aborting' })
    expect(savedBranches(fixture)).toMatchObject([
      { a: { state: 'failed' } },
      { a: { state: 'succeeded' } },
      { a: { state: 'calling' } },
    ])
    expect(fixture.calls).toEqual([])
    expect(fixture.saved().told).toBe(4)
    expect(fixture.calls).toEqual(['01 compensate #1', '02 compensate #1'])
  })

  it('The end waits for the save in flight', () => {
    const fixture = RunFixture.accepted(serial(1, { checkpointMs: 10 })).tick()
    fixture.step({ type: 'command', command: { type: 'retry-asked' } })
    expect(fixture.answer(0, 'action', 'success').types).toEqual([])
    expect(fixture.saved().save).toMatchObject({ status: 'succeeded', version: 2, hold: { type: 'finish' } })
  })
})

describe('a lazy change', () => {
  const progressed = () => {
    const fixture = RunFixture.accepted(serial(20)).tick(100)
    return fixture.answer(0, 'action', 'success')
  }

  it('A lazy change is saved after checkpointMs, and not before', () => {
    const fixture = progressed()
    expect([fixture.save, fixture.wakeAt]).toEqual([undefined, NODE_START + 100 + 1_000])
    expect(fixture.tick(999).save).toBeUndefined()
    expect(fixture.tick(1).save).toMatchObject({ status: 'submitted', hold: { type: 'keep' } })
  })

  it('The checkpoint counts from the oldest unsaved change', () => {
    const fixture = progressed()
    fixture.now += 600
    expect(fixture.answer(1, 'action', 'success').wakeAt).toBe(NODE_START + 100 + 1_000)
  })

  it('Calls go on while a lazy change is being saved', () => {
    const fixture = progressed().tick(1_000)
    expect(fixture.answer(1, 'action', 'success').calls).toEqual(['03 action #1'])
  })

  it('A lazy change during a save has a checkpointMs of its own', () => {
    const fixture = progressed().tick(1_000)
    fixture.now += 5
    fixture.answer(1, 'action', 'success')
    fixture.now += 5
    fixture.saved()
    expect([fixture.save, fixture.wakeAt]).toEqual([undefined, NODE_START + 1_105 + 1_000])
    expect(fixture.tick(994).save).toBeUndefined()
    expect(fixture.tick(1).save).toMatchObject({ version: 2 })
  })

  it('A lazy change that a save included costs no second save', () => {
    const fixture = progressed().tick(1_000).saved()
    expect([fixture.save, fixture.wakeAt]).toEqual([undefined, undefined])
    expect(fixture.tick(60_000).save).toBeUndefined()
  })

  it('A lazy change is saved with the next strong one', () => {
    const fixture = progressed().answer(1, 'action', 'failure')
    expect(savedBranches(fixture)).toMatchObject([{ a: { state: 'succeeded' } }, { a: { state: 'failed' } }])
    expect(fixture.saved().wakeAt).toBeUndefined()
  })
})

describe('strict mode', () => {
  it('Strict mode saves every result before the next call, forward and backward', () => {
    const fixture = RunFixture.accepted(serial(3, { checkpointMs: 0 })).tick()
    expect(fixture.answer(0, 'action', 'success').types).toEqual(['save'])
    expect(fixture.saved().calls).toEqual(['02 action #1'])
    expect(fixture.answer(1, 'action', 'failure').types).toEqual(['save'])
    expect(fixture.saved().calls).toEqual(['02 compensate #1'])
    expect(fixture.answer(1, 'compensate', 'success').types).toEqual(['save'])
    expect(fixture.saved().calls).toEqual(['01 compensate #1'])
  })
})

describe('an unknown answer', () => {
  it('An unknown answer is saved before the branch is called again, though its wait is over', () => {
    const fixture = RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'unknown')
    expect(fixture.save).toMatchObject({ hold: { type: 'keep' }, retrying: true })
    expect(savedBranches(fixture)).toMatchObject([{ a: { state: 'waiting', failures: 1, waits: 1 } }])
    expect(fixture.tick(5_000).calls).toEqual([])
    expect(fixture.saved().calls).toEqual(['01 action #2'])
  })

  it('A short wait after an unknown answer is spent in memory', () => {
    const fixture = RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'ongoing').saved()
    expect([fixture.calls, fixture.save, fixture.wakeAt]).toEqual([[], undefined, NODE_START + 200])
    expect(fixture.tick(200).calls).toEqual(['01 action #2'])
  })

  it('A wait beyond holdMs costs one save, which gives the row back', () => {
    const fixture = RunFixture.accepted(buildSaga([{ retry: { initialMs: 1_001 } }]))
      .tick()
      .answer(0, 'action', 'unknown')
    expect(fixture.types).toContain('save')
    expect(fixture.save).toMatchObject({
      status: 'submitted',
      retrying: true,
      sentList: 'released',
      hold: { type: 'release', dueAt: CREATED_AT + 1_001 },
    })
    expect(savedBranches(fixture)).toMatchObject([
      { a: { state: 'waiting', failures: 1, nextAt: CREATED_AT + 1_001 } },
    ])
    expect(fixture.tick(5_000).calls).toEqual([])
    fixture.saved()
    expect(fixture.end).toEqual({ type: 'ended', how: 'released', dueAt: CREATED_AT + 1_001 })
    expect(fixture.saves).toHaveLength(1)
  })

  it('A wait of exactly holdMs is spent in memory', () => {
    const fixture = RunFixture.accepted(buildSaga([{ retry: { initialMs: 1_000 } }]))
      .tick()
      .answer(0, 'action', 'unknown')
    expect(fixture.save).toMatchObject({ hold: { type: 'keep' } })
  })

  it('A transaction that has waited often is given back, however short the wait is', () => {
    const fixture = RunFixture.accepted(buildSaga([{ retry: { initialMs: 10, capMs: 1_000 } }])).tick()
    for (let waits = 1; waits < 5; waits += 1) {
      fixture.answer(0, 'action', 'unknown')
      expect(fixture.save).toMatchObject({ hold: { type: 'keep' } })
      fixture.saved().tick(1_000)
    }
    fixture.answer(0, 'action', 'unknown')
    expect(fixture.save).toMatchObject({ hold: { type: 'release' } })
  })

  it('S40: A saga that does nothing but wait is given back after holdMs, however short each of its waits is', () => {
    const waits = [400, 500, 400].map((ms, n) => ({ id: `w${n}`, wait: { ms } }))
    const saga = startSaga({ branches: [...waits, { action: 'http://bank.test/a' }] })
    const fixture = RunFixture.accepted(saga).tick()
    expect([fixture.save, fixture.wakeAt]).toEqual([undefined, NODE_START + 400])
    fixture.tick(400)
    expect([fixture.save, fixture.wakeAt]).toEqual([undefined, NODE_START + 900])
    fixture.tick(500)
    expect(fixture.save?.hold).toEqual({ type: 'release', dueAt: CREATED_AT + 1_300 })
  })

  it('S40: Where room is short, a saga that only waits is given back at once, but for a wait of a moment', () => {
    const waits = [100, 400].map((ms, n) => ({ id: `w${n}`, wait: { ms } }))
    const fixture = RunFixture.accepted(startSaga({ branches: [...waits, { action: 'http://bank.test/a' }] }))
    fixture.room = { isShort: true }
    expect([fixture.tick().save, fixture.wakeAt]).toEqual([undefined, NODE_START + 100])
    expect(fixture.tick(100).save?.hold).toEqual({ type: 'release', dueAt: CREATED_AT + 500 })
  })

  it('Where room is short, a short wait for the next attempt is spent in memory all the same', () => {
    const fixture = RunFixture.accepted(serial(1)).tick()
    fixture.room = { isShort: true }
    fixture.answer(0, 'action', 'ongoing').saved()
    expect([fixture.save, fixture.wakeAt]).toEqual([undefined, NODE_START + 200])
  })

  it('S40: A large saga comes back from its wait in its turn, and the next one after it', () => {
    const branches = [{ id: 'w', wait: { ms: 2_000 } }, { action: 'http://bank.test/a' }]
    const start = (nextAt: number) => {
      const fixture = RunFixture.accepted(startSaga({ branches }))
      fixture.room = { isShort: false, largeRow: { places: 10, nextAt } }
      fixture.tick()
      const nextLargeRowAt = fixture.effects.flatMap((effect) =>
        effect.type === 'save' ? [effect.nextLargeRowAt] : [],
      )
      return [fixture.save?.hold, ...nextLargeRowAt]
    }
    const release = (afterMs: number) => ({ type: 'release', dueAt: CREATED_AT + afterMs })
    expect(start(NODE_START - 9)).toEqual([release(2_000), NODE_START + 50])
    expect(start(NODE_START + 1_000)).toEqual([release(2_000), NODE_START + 1_050])
    expect(start(NODE_START + 7_000)).toEqual([release(7_000), NODE_START + 7_050])
  })

  it('A large saga that waits for its next attempt takes no turn, since its attempts have turns of their own', () => {
    const fixture = RunFixture.accepted(buildSaga([{ retry: { initialMs: 1_001 } }])).tick()
    fixture.room = { isShort: false, largeRow: { places: 10, nextAt: NODE_START + 7_000 } }
    fixture.answer(0, 'action', 'unknown')
    expect(fixture.save?.hold).toEqual({ type: 'release', dueAt: CREATED_AT + 1_001 })
  })

  it('The row is given back until the deadline when that is earlier', () => {
    const saga = buildSaga([{ retry: { initialMs: 30_000 } }], { deadlineMs: 8_000 })
    const fixture = RunFixture.accepted(saga).tick().answer(0, 'action', 'unknown')
    expect(fixture.save?.hold).toEqual({ type: 'release', dueAt: CREATED_AT + 8_000 })
  })

  it('A transaction stays in memory when its deadline is nearer than holdMs', () => {
    const saga = buildSaga([{ retry: { initialMs: 30_000 } }], { deadlineMs: 900 })
    const fixture = RunFixture.accepted(saga).tick().answer(0, 'action', 'unknown')
    expect(fixture.save?.hold).toEqual({ type: 'keep' })
    expect(fixture.saved().wakeAt).toBe(NODE_START + 900)
  })

  it('A transaction with a waiting compensation is given back, too', () => {
    const fixture = RunFixture.accepted(buildSaga([{ retry: { initialMs: 5_000 } }])).tick()
    fixture.answer(0, 'action', 'failure').saved().answer(0, 'compensate', 'failure')
    expect(fixture.save).toMatchObject({
      status: 'aborting',
      attention: true,
      retrying: true,
      hold: { type: 'release', dueAt: CREATED_AT + 5_000 },
    })
  })

  it('The next owner makes the call at the recorded instant', () => {
    const fixture = RunFixture.accepted(buildSaga([{ retry: { initialMs: 5_000 } }])).tick()
    fixture.now += 0.25
    fixture.answer(0, 'action', 'unknown')
    const nextAt = fixture.saga.branches[0]?.action.nextAt
    expect(Number.isInteger(nextAt)).toBe(true)
    expect(fixture.save?.hold).toEqual({ type: 'release', dueAt: nextAt })
  })
})

describe('the list of sent actions', () => {
  const plans = [{ retry: { initialMs: 5_000 } }]

  it('A clean release hands the list of sent actions on, if the run knows it and the store keeps it', () => {
    const fixture = RunFixture.claimed(buildSaga(plans), 'held').tick().answer(0, 'action', 'unknown')
    expect(fixture.save).toMatchObject({ sentList: 'released', hold: { type: 'release' } })
  })

  it('The list of sent actions is not handed on where a release may be lost', () => {
    const fixture = RunFixture.claimed(buildSaga(plans), 'held', { releaseKeepsSentList: false }).tick()
    expect(fixture.answer(0, 'action', 'unknown').save).not.toHaveProperty('sentList')
  })

  it('The list of sent actions is not handed on by a run that does not know it', () => {
    const fixture = RunFixture.claimed(buildSaga(plans), 'unknown').tick().answer(0, 'action', 'unknown')
    expect(fixture.save).toMatchObject({ hold: { type: 'release' } })
    expect(fixture.save).not.toHaveProperty('sentList')
  })

  it('A save that keeps the row does not change the state of the list', () => {
    expect(RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'failure').save).not.toHaveProperty(
      'sentList',
    )
  })
})

describe('a graph with a branch that waits long', () => {
  const slow = { after: [], retry: { initialMs: 30_000 } }

  it('A transaction is not given back while another branch is in flight', () => {
    const fixture = RunFixture.accepted(buildSaga([slow, { after: [] }, { after: [1] }])).tick()
    fixture.answer(0, 'action', 'unknown')
    expect(fixture.save).toMatchObject({ hold: { type: 'keep' } })
    fixture.saved()
    expect(fixture.answer(1, 'action', 'success').calls).toEqual(['03 action #1'])
  })

  it('A ready branch is called after the save of the counters, instead of giving the row back', () => {
    const fixture = RunFixture.accepted(buildSaga([slow, { after: [] }, { after: [1] }])).tick()
    fixture.answer(0, 'action', 'unknown').answer(1, 'action', 'success')
    expect(fixture.calls).toEqual([])
    expect(fixture.saved().calls).toEqual(['03 action #1'])
    expect(fixture.save).toBeUndefined()
  })

  it('A transaction is not given back when a ready branch only waits for a save', () => {
    const fixture = RunFixture.accepted(buildSaga([slow, { after: [] }, { after: [1] }])).tick()
    fixture
      .step({ type: 'command', command: { type: 'retry-asked' } })
      .answer(1, 'action', 'success')
      .answer(0, 'action', 'unknown')
    expect(fixture.calls).toEqual([])
    fixture.saved()
    expect([fixture.calls, fixture.save?.hold]).toEqual([[], { type: 'keep' }])
    expect(fixture.saved().calls).toEqual(['03 action #1'])
  })

  it('A transaction is given back when no other call is left to make', () => {
    const fixture = RunFixture.accepted(buildSaga([slow, { after: [] }])).tick()
    fixture.answer(0, 'action', 'unknown').saved()
    fixture.now += 50
    fixture.answer(1, 'action', 'success')
    expect(fixture.save).toMatchObject({ hold: { type: 'release', dueAt: CREATED_AT + 30_000 } })
  })
})

describe('a row that is being given back', () => {
  it('No call is made while the row is being given back, though a wait ends', () => {
    const fixture = RunFixture.claimed(serial(1, { delayMs: 5_000 }), 'held').tick()
    expect(fixture.save?.hold).toEqual({ type: 'release', dueAt: CREATED_AT + 5_000 })
    expect(fixture.tick(5_000).calls).toEqual([])
    expect(fixture.saved().end?.how).toBe('released')
  })
})

describe('a command that meets the giving back', () => {
  it('A command during the release is not reported as durable', () => {
    const fixture = RunFixture.accepted(buildSaga([{ retry: { initialMs: 5_000 } }]))
      .tick()
      .answer(0, 'action', 'unknown')
    const before = fixture.run.lastChange
    fixture.step({ type: 'command', command: { type: 'abort-asked' } }).saved()
    expect([fixture.told, fixture.end?.how, fixture.run.lastChange > before]).toEqual([
      before,
      'released',
      true,
    ])
  })
})

describe('the trouble of a row', () => {
  it('The save of a failed attempt names the problem, and the save of the end has none', () => {
    const fixture = RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'unknown')
    expect(fixture.save).toMatchObject({ problem: 'bank.test action timeout', attempts: 1 })
    fixture.saved()
    fixture.now += 500
    fixture.tick().answer(0, 'action', 'success')
    expect(fixture.save).toMatchObject({ status: 'succeeded' })
    expect(fixture.save).not.toHaveProperty('problem')
    expect(fixture.save).not.toHaveProperty('attempts')
  })
})

describe('retrying', () => {
  it('A transaction with a waiting branch is retrying', () => {
    expect(isRetrying(after(serial(1), [sent([0, 'action']), answered(0, 'action', 'ongoing')]))).toBe(true)
    expect(isRetrying(after(parallel(2), [sent([0, 'action'], [1, 'action'])]))).toBe(false)
  })

  it('A final transaction is not retrying', () => {
    const waiting = after(serial(1), [sent([0, 'action']), answered(0, 'action', 'unknown')])
    expect(isRetrying(after(waiting, [{ type: 'stop-asked' }]))).toBe(false)
  })
})

describe('a strong change after which a decision is due', () => {
  const saga = (...branches: readonly object[]) => startSaga({ branches, deadlineMs: 3_600_000 })
  const pay = { id: 'pay', action: 'http://bank.test/pay' }
  const used = { ...pay, template: { hold: { $from: 'hold', else: null } } }
  const hold = { id: 'hold', action: 'http://bank.test/holds' }
  const limited = { id: 'limited', wait: { signal: 'approval', timeoutMs: 500, onTimeout: 'continue' } }
  const answerHold = (fixture: RunFixture) => fixture.answer(0, 'action', 'success')
  const timeOut = (fixture: RunFixture) => fixture.tick(500)

  it.each([
    ['the end of the saga', saga(limited), timeOut, 'succeeded'],
    ['the next wait', saga(limited, { id: 'cool', wait: { ms: 200 } }, pay), timeOut, 'submitted'],
    ['the mark of no return', saga(hold, { ...used, role: 'pivot' }), answerHold, 'submitted'],
    ['the abort', saga({ ...limited, wait: { ...limited.wait, onTimeout: 'abort' } }), timeOut, 'aborting'],
  ] as const)('keeps the row, however far the deadline is: %s', (_, start, act, status) => {
    const fixture = act(RunFixture.accepted(start).tick())
    expect(fixture.save).toMatchObject({ status: 'submitted', hold: { type: 'keep' } })
    expect(fixture.saved().saga.status).toBe(status)
  })
})

describe('a row that waits for a person', () => {
  it.each([0, 1_000])('is parked only when it is marked, with checkpointMs %d', (checkpointMs) => {
    const hold = {
      id: 'hold',
      action: 'http://bank.test/holds',
      compensation: {
        url: 'http://bank.test/undo',
        template: Array.from({ length: 5 }, () => ({ $from: 'hold' })),
      },
    }
    const saga = newTransaction(
      accepted({ branches: [hold, { id: 'pay', action: 'http://bank.test/pay' }], checkpointMs }),
      { gid: 'order-4711' as Gid, digest: 'd'.repeat(64) },
      CREATED_AT,
    )
    const fixture = RunFixture.accepted(saga).tick()
    const body = JSON.stringify('a'.repeat(PAYLOAD_BYTES_MAX / 4 - 100))
    const call = { branch: 0, op: 'action' } as const
    const answer = { ...buildAnswer('success'), body }
    fixture.step({ type: 'answered', call, attempt: 1, answer, durationMs: 3, jitter01: 0 }).saved()
    fixture.answer(1, 'action', 'failure')
    expect(fixture.save).toMatchObject({ status: 'aborting', attention: false, hold: { type: 'keep' } })
    fixture.saved()
    expect(fixture.save).toMatchObject({ attention: true, hold: { type: 'release', dueAt: PARKED_AT } })
  })
})
