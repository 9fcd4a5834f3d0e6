import type { Result } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { GRANT, NODE_START, RunFixture, SETTINGS } from '../../test/run-fixture.ts'
import { after, answered, buildSaga, CREATED_AT, parallel, sent, serial } from '../../test/sagas.ts'
import { RULES } from '../rules/rules.ts'
import type { SagaOp, Transaction } from '../transaction.ts'
import { hasCallInFlight, readStoreNow } from './run.ts'
import { stepRun } from './step-run.ts'

describe('an accepted run', () => {
  it('An accepted run is durable already, so it makes ready calls at once and saves nothing', () => {
    const fixture = RunFixture.accepted(parallel(2)).tick()
    expect(fixture.calls).toEqual(['01 action #1', '02 action #1'])
    expect(fixture.saves).toEqual([])
    expect(fixture.run).toMatchObject({
      lastChange: 1,
      lastSavedChange: 1,
      version: 1,
      durableTransaction: { status: 'submitted' },
    })
  })

  it('The next branch is called as soon as the one before has answered, without a save', () => {
    const fixture = RunFixture.accepted(serial(3)).tick().answer(0, 'action', 'success')
    expect(fixture.calls).toEqual(['02 action #1'])
    expect(fixture.saves).toEqual([])
  })

  it('A call in flight is not made twice', () => {
    expect(RunFixture.accepted(serial(1)).tick().tick(5).tick(5).calls).toEqual([])
  })

  it('A step leaves its arguments unchanged', () => {
    const saga = serial(2)
    const text = JSON.stringify(saga)
    RunFixture.accepted(saga).tick().answer(0, 'action', 'success').answer(1, 'action', 'failure')
    expect(JSON.stringify(saga)).toBe(text)
  })

  it("A delayed run wakes for its start by the node's clock", () => {
    const fixture = RunFixture.accepted(serial(1, { delayMs: 700 })).tick()
    expect([fixture.types, fixture.wakeAt]).toEqual([['wake-at'], NODE_START + 700])
    expect(fixture.tick(699).calls).toEqual([])
    expect(fixture.tick(1).calls).toEqual(['01 action #1'])
  })
})

/** Runs the saga to its end with instant saves, and returns how many there were. */
function countSaves(saga: Transaction): number {
  const fixture = RunFixture.accepted(saga).tick()
  for (let step = 0; step < 1_000 && !fixture.run.ended; step++) {
    const branch = fixture.saga.branches.findIndex(({ action }) => action.state === 'calling')
    if (branch >= 0) fixture.answer(branch, 'action', 'success')
    else fixture.saved()
  }
  expect(fixture.run.transaction.status).toBe('succeeded')
  expect(fixture.run.ended).toBe(true)
  return fixture.saves.length
}

describe('the happy path', () => {
  it('A successful saga costs exactly one save after the accept, with 2 branches and with 20', () => {
    expect([countSaves(serial(2)), countSaves(serial(20))]).toEqual([1, 1])
    expect([countSaves(parallel(2)), countSaves(parallel(20))]).toEqual([1, 1])
  })

  it('A saga costs a save for each result in strict mode', () => {
    expect(countSaves(serial(3, { checkpointMs: 0 }))).toBe(3)
  })

  it('The end is reported only when it is saved', () => {
    const fixture = RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'success')
    expect(fixture.types).toEqual(['save'])
    expect(fixture.save).toMatchObject({
      status: 'succeeded',
      version: 1,
      hold: { type: 'finish', retentionMs: SETTINGS.retentionMs },
      retrying: false,
      attention: false,
    })
    expect([fixture.run.durableTransaction.status, fixture.run.ended]).toEqual(['submitted', false])
    fixture.tick(5_000)
    expect(fixture.types).toEqual([])
    fixture.saved()
    expect(fixture.effects).toEqual([
      { type: 'durable', lastSavedChange: 2 },
      { type: 'ended', how: 'finished' },
    ])
    expect([fixture.run.durableTransaction.status, fixture.run.ended]).toEqual(['succeeded', true])
  })

  it('A run ignores every event after its end', () => {
    const fixture = RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'success').saved()
    const { run } = fixture
    fixture
      .step({ type: 'command', command: { type: 'abort-asked' } })
      .tick(60_000)
      .answer(0, 'action', 'failure')
    expect([fixture.effects, fixture.run === run]).toEqual([[], true])
  })
})

describe('the abort decision', () => {
  const atFailure = () =>
    RunFixture.accepted(serial(2)).tick().answer(0, 'action', 'success').answer(1, 'action', 'failure')

  it('The abort decision is saved before any compensation is called', () => {
    const fixture = atFailure()
    expect(fixture.types).toEqual(['save'])
    expect(fixture.save).toMatchObject({ status: 'aborting', hold: { type: 'keep' } })
    expect(JSON.parse(fixture.save?.progress ?? '{}')).toMatchObject({ abort: { branches: [0, 1] } })
    expect(fixture.tick(100).calls).toEqual([])
    expect(fixture.saved().calls).toEqual(['02 compensate #1'])
    expect(fixture.told).toBe(3)
    expect(fixture.answer(1, 'compensate', 'success').calls).toEqual(['01 compensate #1'])
  })

  it('The abort decision is shown only when it is durable', () => {
    const fixture = atFailure()
    expect(fixture.run.durableTransaction.status).toBe('submitted')
    expect(fixture.saved().run.durableTransaction.status).toBe('aborting')
  })

  it('An abort costs one save and the end another, however many branches are undone', () => {
    const fixture = RunFixture.accepted(serial(6)).tick()
    for (let branch = 0; branch < 5; branch++) fixture.answer(branch, 'action', 'success')
    fixture.answer(5, 'action', 'failure').saved()
    for (let branch = 5; branch >= 0; branch--) fixture.answer(branch, 'compensate', 'success')
    expect(fixture.saved().end).toEqual({ type: 'ended', how: 'finished' })
    expect(fixture.saves.map(({ status }) => status)).toEqual(['aborting', 'failed'])
  })

  it('The abort decision stops new actions even before it is durable', () => {
    const fixture = RunFixture.accepted(buildSaga([{ after: [] }, { after: [] }, { after: [0] }])).tick()
    fixture.step({ type: 'command', command: { type: 'abort-asked' } })
    expect(fixture.types).toEqual(['save'])
    expect(fixture.answer(0, 'action', 'success').calls).toEqual([])
    expect(fixture.saved().calls).toEqual(['01 compensate #1'])
    expect(fixture.answer(1, 'action', 'unknown').calls).toEqual(['02 compensate #1'])
  })

  it('The abort decision is made at the deadline by the store’s clock', () => {
    const fixture = RunFixture.accepted(serial(1, { deadlineMs: 4_000 })).tick()
    expect(fixture.wakeAt).toBe(NODE_START + 4_000)
    expect(fixture.tick(3_999).save).toBeUndefined()
    expect(fixture.tick(1).save).toMatchObject({ status: 'aborting' })
  })

  it('The last success wins against the deadline in one step', () => {
    const fixture = RunFixture.accepted(serial(1, { deadlineMs: 4_000 })).tick()
    fixture.now += 4_500
    expect(fixture.answer(0, 'action', 'success').save).toMatchObject({ status: 'succeeded' })
  })

  it('An abort with nothing to undo is durable before the end is decided', () => {
    const fixture = RunFixture.accepted(serial(1, { delayMs: 500 }))
      .tick()
      .step({ type: 'command', command: { type: 'abort-asked' } })
    expect(fixture.save).toMatchObject({ status: 'aborting', hold: { type: 'keep' } })
    expect(JSON.parse(fixture.save?.progress ?? '{}')).toMatchObject({ abort: { cause: 'requested' } })
    fixture.saved()
    expect(fixture.save).toMatchObject({ status: 'failed', hold: { type: 'finish' } })
  })
})

describe('commands', () => {
  it('A stop is durable before it is reported', () => {
    const fixture = RunFixture.accepted(serial(2))
      .tick()
      .step({ type: 'command', command: { type: 'stop-asked' } })
    expect(fixture.types).toEqual(['save'])
    expect(fixture.save).toMatchObject({ status: 'stopped', hold: { type: 'finish' } })
    expect(fixture.saved().end).toEqual({ type: 'ended', how: 'finished' })
  })

  it('A retry calls a waiting branch at once, after the save', () => {
    const fixture = RunFixture.accepted(serial(1, { checkpointMs: 60_000 }))
      .tick()
      .answer(0, 'action', 'unknown')
      .saved()
    expect(fixture.calls).toEqual([])
    expect(fixture.step({ type: 'command', command: { type: 'retry-asked' } }).types).toEqual(['save'])
    expect(fixture.saved().calls).toEqual(['01 action #2'])
  })

  it('A command that changes nothing saves nothing', () => {
    const fixture = RunFixture.accepted(serial(1))
      .tick()
      .step({ type: 'command', command: { type: 'abort-asked' } })
      .saved()
    fixture.step({ type: 'command', command: { type: 'abort-asked' } })
    expect(fixture.effects).toEqual([])
  })
})

describe('the lease', () => {
  it('No new call starts after the lease, which counts from its request', () => {
    const grant = { sentAt: NODE_START, now: NODE_START + 300, storeNow: CREATED_AT }
    const fixture = RunFixture.claimed(serial(3), 'held', {}, grant)
    fixture.now = NODE_START + 300
    expect(fixture.tick().calls).toEqual(['01 action #1'])
    fixture.now = NODE_START + 9_999
    expect(fixture.answer(0, 'action', 'success').calls).toEqual(['02 action #1'])
    fixture.now = NODE_START + 10_000
    expect(fixture.answer(1, 'action', 'success').calls).toEqual([])
  })

  it('A renewal extends the lease', () => {
    const fixture = RunFixture.accepted(serial(2)).tick()
    fixture.now += 10_000
    expect(fixture.answer(0, 'action', 'success').calls).toEqual([])
    const grant = { sentAt: fixture.now, now: fixture.now + 5, storeNow: fixture.storeNow }
    fixture.now += 5
    expect(fixture.step({ type: 'renewed', grant, version: 1 }).calls).toEqual(['02 action #1'])
    expect(fixture.run.leaseUntil).toBe(grant.sentAt + SETTINGS.leaseMs)
  })

  it('A late answer of an older renewal never shortens the lease', () => {
    const fixture = RunFixture.accepted(serial(1)).tick()
    const late = { sentAt: NODE_START + 2_000, now: NODE_START + 2_010, storeNow: CREATED_AT + 2_000 }
    const early = { sentAt: NODE_START + 1_000, now: NODE_START + 2_020, storeNow: CREATED_AT + 1_000 }
    fixture
      .step({ type: 'renewed', grant: late, version: 1 })
      .step({ type: 'renewed', grant: early, version: 1 })
    expect(fixture.run.leaseUntil).toBe(NODE_START + 12_000)
  })

  it('Results are still saved after the lease, because the token protects the row', () => {
    const fixture = RunFixture.accepted(serial(1)).tick()
    fixture.now += 60_000
    expect(fixture.answer(0, 'action', 'success').save).toMatchObject({ status: 'succeeded' })
  })

  it('A lost lease ends the run: no save and no call follows', () => {
    const fixture = RunFixture.accepted(serial(2)).tick().step({ type: 'lease-lost' })
    expect(fixture.effects).toEqual([{ type: 'ended', how: 'lost' }])
    expect(fixture.answer(0, 'action', 'success').effects).toEqual([])
  })

  it('The store’s clock is measured from when the answer came, so that no deadline is early', () => {
    const grant = { sentAt: 100, now: 400, storeNow: CREATED_AT }
    const fixture = RunFixture.claimed(serial(1), 'held', {}, grant)
    expect(readStoreNow(fixture.run, 400)).toBe(CREATED_AT)
    expect(readStoreNow(fixture.run, 400.9)).toBe(CREATED_AT)
  })

  it('A run makes progress at the very instant that it asked for, even with fractions of milliseconds', () => {
    for (const now of [0.1, 1_234.567891, 98_765.4321, 1e7 / 3]) {
      const grant = { sentAt: now, now, storeNow: 1_763_678_400_123 }
      const saga = { ...serial(1, { delayMs: 333 }), createdAt: grant.storeNow - 7 }
      const fixture = RunFixture.claimed(saga, 'held', {}, grant)
      fixture.now = now
      fixture.now = fixture.tick().wakeAt ?? 0
      expect(fixture.tick().calls).toEqual(['01 action #1'])
    }
  })
})

describe('a renewal that shows another version', () => {
  const grant = { ...GRANT, sentAt: NODE_START + 3_000, now: NODE_START + 3_001 }

  it('A renewal with another version makes the run read the row again first', () => {
    const fixture = RunFixture.accepted(serial(2)).tick().step({ type: 'renewed', grant, version: 2 })
    expect(fixture.types).toEqual(['reread'])
    expect(fixture.answer(0, 'action', 'success').effects).toEqual([])
    expect(fixture.tick(1).effects).toEqual([])
    expect(fixture.step({ type: 'renewed', grant, version: 2 }).effects).toEqual([])
  })

  it('A renewal with another version is ignored while a save is in flight', () => {
    const fixture = RunFixture.accepted(serial(2)).tick().answer(0, 'action', 'failure')
    expect(fixture.step({ type: 'renewed', grant, version: 2 }).effects).toEqual([])
    expect(fixture.saved().calls).toEqual(['01 compensate #1'])
  })

  it('A renewal with a known or older version is ignored', () => {
    const fixture = RunFixture.accepted(serial(2)).tick().answer(0, 'action', 'failure').saved()
    expect(fixture.run.version).toBe(2)
    expect(fixture.step({ type: 'renewed', grant, version: 2 }).types).toEqual([])
    expect(fixture.step({ type: 'renewed', grant, version: 1 }).types).toEqual([])
  })
})

describe('the answer of a save', () => {
  for (const result of [{ type: 'fenced' }, { type: 'absent' }] as const) {
    it(`${result.type} ends the run: it is another's, nothing is told as durable`, () => {
      const fixture = RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'success')
      fixture.step({ type: 'saved', result })
      expect(fixture.effects).toEqual([{ type: 'ended', how: 'lost' }])
      expect(fixture.run.durableTransaction.status).toBe('submitted')
    })
  }

  it('The answer conflict makes the run read the row again first', () => {
    const fixture = RunFixture.accepted(serial(2)).tick().answer(0, 'action', 'failure').conflict()
    expect(fixture.effects).toEqual([{ type: 'reread' }])
    expect(fixture.run).toMatchObject({
      rereading: true,
      lastSavedChange: 1,
      durableTransaction: { status: 'submitted' },
    })
    expect(fixture.tick(5_000).effects).toEqual([])
  })

  it("A save's answer without a save in flight is a bug", () => {
    const { run } = RunFixture.accepted(serial(1)).tick()
    const saved = { type: 'saved', result: { type: 'fenced' } } as const
    expect(() => stepRun(RULES, run, saved, NODE_START)).toThrow('a save ended that was not in flight')
  })
})

describe('a drained run', () => {
  const draining = (when: 'when-calls-end' | 'now') =>
    RunFixture.accepted(serial(2)).tick().step({ type: 'drain', when })

  it('A drained run is given back when its calls have ended, and starts no new ones', () => {
    const fixture = draining('when-calls-end')
    expect(fixture.effects).toEqual([])
    fixture.answer(0, 'action', 'success')
    expect(fixture.types).toEqual(['save'])
    expect(fixture.save).toMatchObject({
      status: 'submitted',
      sentList: 'released',
      hold: { type: 'release', dueAt: fixture.storeNow },
    })
    fixture.saved()
    expect(fixture.end).toEqual({ type: 'ended', how: 'released', dueAt: fixture.storeNow })
  })

  it('A run that is drained now is given back with its calls in flight recorded as sent', () => {
    const fixture = draining('now')
    expect(fixture.save).toMatchObject({ hold: { type: 'release', dueAt: fixture.storeNow } })
    expect(JSON.parse(fixture.save?.progress ?? '{}')).toMatchObject({
      b: [{ a: { state: 'calling', attempts: 1 } }],
    })
  })

  it('A drained run is given back when the time for its calls is over', () => {
    const fixture = draining('when-calls-end').tick(8_000)
    expect(fixture.effects).toEqual([])
    expect(fixture.step({ type: 'drain', when: 'now' }).save).toMatchObject({ hold: { type: 'release' } })
  })

  it('A drained run without calls in flight is given back at once', () => {
    const fixture = RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'unknown').saved()
    expect(fixture.step({ type: 'drain', when: 'when-calls-end' }).save).toMatchObject({
      hold: { type: 'release' },
    })
  })

  it('A drained run finishes when its last call ends the transaction', () => {
    const fixture = RunFixture.accepted(serial(1)).tick().step({ type: 'drain', when: 'when-calls-end' })
    expect(fixture.answer(0, 'action', 'success').save).toMatchObject({ hold: { type: 'finish' } })
    expect(fixture.saved().end).toEqual({ type: 'ended', how: 'finished' })
  })

  it('A drained run waits for the save in flight, then is given back without a call in between', () => {
    const fixture = RunFixture.accepted(serial(2)).tick().answer(0, 'action', 'failure')
    expect(fixture.step({ type: 'drain', when: 'now' }).effects).toEqual([])
    fixture.saved()
    expect(fixture.types).toEqual(['durable', 'save'])
    expect(fixture.save).toMatchObject({ status: 'aborting', version: 2, hold: { type: 'release' } })
    expect(fixture.saved().end).toMatchObject({ how: 'released' })
  })

  it('A drained run saves an abort that is not durable yet in the same save', () => {
    const fixture = RunFixture.accepted(serial(2)).tick().step({ type: 'drain', when: 'when-calls-end' })
    expect(fixture.answer(0, 'action', 'failure').save).toMatchObject({
      status: 'aborting',
      hold: { type: 'release' },
    })
  })

  it('A drained run on a lesser store does not hand on its list', () => {
    const fixture = RunFixture.accepted(serial(1), { releaseKeepsSentList: false }).tick()
    expect(fixture.step({ type: 'drain', when: 'now' }).save).not.toHaveProperty('sentList')
  })
})

describe('a result that comes while the row is being given back', () => {
  it('A result during the release is not reported as durable', () => {
    const fixture = RunFixture.accepted(serial(2)).tick().step({ type: 'drain', when: 'now' })
    fixture.answer(0, 'action', 'failure')
    expect(fixture.effects).toEqual([])
    fixture.saved()
    expect(fixture.effects).toEqual([
      { type: 'durable', lastSavedChange: 1 },
      { type: 'ended', how: 'released', dueAt: CREATED_AT },
    ])
  })
})

describe('the calls in flight', () => {
  it('Calls in flight are counted over both ops', () => {
    const fixture = RunFixture.accepted(parallel(2)).tick()
    expect(hasCallInFlight(fixture.run)).toBe(true)
    fixture.answer(0, 'action', 'failure').saved()
    expect(fixture.calls).toEqual(['01 compensate #1'])
    expect(hasCallInFlight(fixture.run)).toBe(true)
    expect(hasCallInFlight(fixture.answer(1, 'action', 'success').run)).toBe(true)
  })

  it('A late answer to another attempt changes nothing', () => {
    const fixture = RunFixture.accepted(serial(2)).tick()
    const { transaction } = fixture.run
    const late = (branch: number, op: SagaOp, result: Result) => answered(branch, op, result, { attempt: 7 })
    fixture.step(late(0, 'action', 'failure')).step(late(0, 'compensate', 'success'))
    expect(fixture.run.transaction).toBe(transaction)
  })
})

describe('a claimed run', () => {
  it('A claimed run repeats the calls that an earlier owner had in flight, as the next attempt', () => {
    const saga = after(serial(1), [sent([0, 'action']), { type: 'claimed', epoch: 2, sentUnknown: false }])
    expect(RunFixture.claimed(saga, 'held').tick().calls).toEqual(['01 action #2'])
  })

  it('A claimed run knows the list of sent actions only after a clean release', () => {
    expect(RunFixture.claimed(serial(1), 'held').run.sentListKnown).toBe(true)
    expect(RunFixture.claimed(serial(1), 'unknown').run.sentListKnown).toBe(false)
  })
})
