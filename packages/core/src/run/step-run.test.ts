import type { Result } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { GRANT, NODE_START, RunBed, SETTINGS } from '../../test/run-bed.ts'
import { after, answered, CREATED_AT, parallel, sagaOf, sent, serial } from '../../test/sagas.ts'
import { RULES } from '../rules/rules.ts'
import type { SagaOp, Transaction } from '../transaction.ts'
import { hasCallInFlight } from './run.ts'
import { stepRun, storeNow } from './step-run.ts'

describe('an accepted run', () => {
  it('is durable already, so it calls what is ready at once and saves nothing', () => {
    const bed = RunBed.accepted(parallel(2)).tick()
    expect(bed.calls).toEqual(['01 action #1', '02 action #1'])
    expect(bed.saves).toEqual([])
    expect(bed.run).toMatchObject({
      lastChange: 1,
      lastSavedChange: 1,
      version: 1,
      durableTransaction: { status: 'submitted' },
    })
  })

  it('calls the next branch as soon as the one before has answered, without a save', () => {
    const bed = RunBed.accepted(serial(3)).tick().answer(0, 'action', 'success')
    expect(bed.calls).toEqual(['02 action #1'])
    expect(bed.saves).toEqual([])
  })

  it('does not call twice what is in flight', () => {
    expect(RunBed.accepted(serial(1)).tick().tick(5).tick(5).calls).toEqual([])
  })

  it('leaves what it was given untouched', () => {
    const saga = serial(2)
    const text = JSON.stringify(saga)
    RunBed.accepted(saga).tick().answer(0, 'action', 'success').answer(1, 'action', 'failure')
    expect(JSON.stringify(saga)).toBe(text)
  })

  it('wakes for its start by its own clock, and starts then', () => {
    const bed = RunBed.accepted(serial(1, { delayMs: 700 })).tick()
    expect([bed.types, bed.wakeAt]).toEqual([['wake-at'], NODE_START + 700])
    expect(bed.tick(699).calls).toEqual([])
    expect(bed.tick(1).calls).toEqual(['01 action #1'])
  })
})

/** Runs it to its end with instant saves; returns how many there were. */
function savesOf(saga: Transaction): number {
  const bed = RunBed.accepted(saga).tick()
  for (let step = 0; step < 1_000 && !bed.run.ended; step++) {
    const branch = bed.saga.branches.findIndex(({ action }) => action.state === 'calling')
    if (branch >= 0) bed.answer(branch, 'action', 'success')
    else bed.saved()
  }
  expect(bed.run.transaction.status).toBe('succeeded')
  expect(bed.run.ended).toBe(true)
  return bed.saves.length
}

describe('the happy path', () => {
  it('costs exactly one save after the accept, with 2 branches and with 20', () => {
    expect([savesOf(serial(2)), savesOf(serial(20))]).toEqual([1, 1])
    expect([savesOf(parallel(2)), savesOf(parallel(20))]).toEqual([1, 1])
  })

  it('costs a save for each result in strict mode', () => {
    expect(savesOf(serial(3, { checkpointMs: 0 }))).toBe(3)
  })

  it('tells the end only when it is saved', () => {
    const bed = RunBed.accepted(serial(1)).tick().answer(0, 'action', 'success')
    expect(bed.types).toEqual(['save'])
    expect(bed.save).toMatchObject({
      status: 'succeeded',
      version: 1,
      hold: { type: 'finish', retentionMs: SETTINGS.retentionMs },
      retrying: false,
      attention: false,
    })
    expect([bed.run.durableTransaction.status, bed.run.ended]).toEqual(['submitted', false])
    bed.tick(5_000)
    expect(bed.types).toEqual([])
    bed.saved()
    expect(bed.effects).toEqual([
      { type: 'durable', lastSavedChange: 2 },
      { type: 'ended', how: 'finished' },
    ])
    expect([bed.run.durableTransaction.status, bed.run.ended]).toEqual(['succeeded', true])
  })

  it('ignores everything after its end', () => {
    const bed = RunBed.accepted(serial(1)).tick().answer(0, 'action', 'success').saved()
    const { run } = bed
    bed
      .step({ type: 'command', command: { type: 'abort-asked' } })
      .tick(60_000)
      .answer(0, 'action', 'failure')
    expect([bed.effects, bed.run === run]).toEqual([[], true])
  })
})

describe('the abort decision', () => {
  const atFailure = () =>
    RunBed.accepted(serial(2)).tick().answer(0, 'action', 'success').answer(1, 'action', 'failure')

  it('is saved before any compensation is called', () => {
    const bed = atFailure()
    expect(bed.types).toEqual(['save'])
    expect(bed.save).toMatchObject({ status: 'aborting', hold: { type: 'keep' } })
    expect(JSON.parse(bed.save?.progress ?? '{}')).toMatchObject({ abort: { branches: [0, 1] } })
    expect(bed.tick(100).calls).toEqual([])
    expect(bed.saved().calls).toEqual(['02 compensate #1'])
    expect(bed.told).toBe(3)
    expect(bed.answer(1, 'compensate', 'success').calls).toEqual(['01 compensate #1'])
  })

  it('is shown only when it is durable', () => {
    const bed = atFailure()
    expect(bed.run.durableTransaction.status).toBe('submitted')
    expect(bed.saved().run.durableTransaction.status).toBe('aborting')
  })

  it('costs one save, and the end another, however many are undone', () => {
    const bed = RunBed.accepted(serial(6)).tick()
    for (let branch = 0; branch < 5; branch++) bed.answer(branch, 'action', 'success')
    bed.answer(5, 'action', 'failure').saved()
    for (let branch = 5; branch >= 0; branch--) bed.answer(branch, 'compensate', 'success')
    expect(bed.saved().end).toEqual({ type: 'ended', how: 'finished' })
    expect(bed.saves.map(({ status }) => status)).toEqual(['aborting', 'failed'])
  })

  it('stops new actions from the moment it is made, not from the moment it is durable', () => {
    const bed = RunBed.accepted(sagaOf([{ after: [] }, { after: [] }, { after: [0] }])).tick()
    bed.step({ type: 'command', command: { type: 'abort-asked' } })
    expect(bed.types).toEqual(['save'])
    expect(bed.answer(0, 'action', 'success').calls).toEqual([])
    expect(bed.saved().calls).toEqual(['01 compensate #1'])
    expect(bed.answer(1, 'action', 'unknown').calls).toEqual(['02 compensate #1'])
  })

  it('is made at the deadline by the store’s clock', () => {
    const bed = RunBed.accepted(serial(1, { deadlineMs: 4_000 })).tick()
    expect(bed.wakeAt).toBe(NODE_START + 4_000)
    expect(bed.tick(3_999).save).toBeUndefined()
    expect(bed.tick(1).save).toMatchObject({ status: 'aborting' })
  })

  it('loses against the last success, in one step', () => {
    const bed = RunBed.accepted(serial(1, { deadlineMs: 4_000 })).tick()
    bed.now += 4_500
    expect(bed.answer(0, 'action', 'success').save).toMatchObject({ status: 'succeeded' })
  })

  it('with nothing to undo is durable before the end is decided on top of it', () => {
    const bed = RunBed.accepted(serial(1, { delayMs: 500 }))
      .tick()
      .step({ type: 'command', command: { type: 'abort-asked' } })
    expect(bed.save).toMatchObject({ status: 'aborting', hold: { type: 'keep' } })
    expect(JSON.parse(bed.save?.progress ?? '{}')).toMatchObject({ abort: { cause: 'requested' } })
    bed.saved()
    expect(bed.save).toMatchObject({ status: 'failed', hold: { type: 'finish' } })
  })
})

describe('commands', () => {
  it('are durable before they are told: a stop', () => {
    const bed = RunBed.accepted(serial(2))
      .tick()
      .step({ type: 'command', command: { type: 'stop-asked' } })
    expect(bed.types).toEqual(['save'])
    expect(bed.save).toMatchObject({ status: 'stopped', hold: { type: 'finish' } })
    expect(bed.saved().end).toEqual({ type: 'ended', how: 'finished' })
  })

  it('ask a waiting branch at once, after the save', () => {
    const bed = RunBed.accepted(serial(1, { checkpointMs: 60_000 }))
      .tick()
      .answer(0, 'action', 'unknown')
      .saved()
    expect(bed.calls).toEqual([])
    expect(bed.step({ type: 'command', command: { type: 'retry-asked' } }).types).toEqual(['save'])
    expect(bed.saved().calls).toEqual(['01 action #2'])
  })

  it('that change nothing save nothing', () => {
    const bed = RunBed.accepted(serial(1))
      .tick()
      .step({ type: 'command', command: { type: 'abort-asked' } })
      .saved()
    bed.step({ type: 'command', command: { type: 'abort-asked' } })
    expect(bed.effects).toEqual([])
  })
})

describe('the lease', () => {
  it('ends when it was asked for plus its length: no new call starts from then on', () => {
    const grant = { sentAt: NODE_START, now: NODE_START + 300, storeNow: CREATED_AT }
    const bed = RunBed.claimed(serial(3), 'held', {}, grant)
    bed.now = NODE_START + 300
    expect(bed.tick().calls).toEqual(['01 action #1'])
    bed.now = NODE_START + 9_999
    expect(bed.answer(0, 'action', 'success').calls).toEqual(['02 action #1'])
    bed.now = NODE_START + 10_000
    expect(bed.answer(1, 'action', 'success').calls).toEqual([])
  })

  it('goes on when it is renewed', () => {
    const bed = RunBed.accepted(serial(2)).tick()
    bed.now += 10_000
    expect(bed.answer(0, 'action', 'success').calls).toEqual([])
    const grant = { sentAt: bed.now, now: bed.now + 5, storeNow: bed.storeNow }
    bed.now += 5
    expect(bed.step({ type: 'renewed', grant, version: 1 }).calls).toEqual(['02 action #1'])
    expect(bed.run.leaseUntil).toBe(grant.sentAt + SETTINGS.leaseMs)
  })

  it('is never shorten by an answer that overtook another', () => {
    const bed = RunBed.accepted(serial(1)).tick()
    const late = { sentAt: NODE_START + 2_000, now: NODE_START + 2_010, storeNow: CREATED_AT + 2_000 }
    const early = { sentAt: NODE_START + 1_000, now: NODE_START + 2_020, storeNow: CREATED_AT + 1_000 }
    bed.step({ type: 'renewed', grant: late, version: 1 }).step({ type: 'renewed', grant: early, version: 1 })
    expect(bed.run.leaseUntil).toBe(NODE_START + 12_000)
  })

  it('does not keep results from being saved after its end: the token protects the row', () => {
    const bed = RunBed.accepted(serial(1)).tick()
    bed.now += 60_000
    expect(bed.answer(0, 'action', 'success').save).toMatchObject({ status: 'succeeded' })
  })

  it('lost ends the run: nothing is saved or called any more', () => {
    const bed = RunBed.accepted(serial(2)).tick().step({ type: 'lease-lost' })
    expect(bed.effects).toEqual([{ type: 'ended', how: 'lost' }])
    expect(bed.answer(0, 'action', 'success').effects).toEqual([])
  })

  it('measures the store’s clock from when the answer came, so that no deadline is early', () => {
    const grant = { sentAt: 100, now: 400, storeNow: CREATED_AT }
    const bed = RunBed.claimed(serial(1), 'held', {}, grant)
    expect(storeNow(bed.run, 400)).toBe(CREATED_AT)
    expect(storeNow(bed.run, 400.9)).toBe(CREATED_AT)
  })

  it('makes progress at the very instant that it asked to be woken at, with clocks of fractions', () => {
    for (const now of [0.1, 1_234.567891, 98_765.4321, 1e7 / 3]) {
      const grant = { sentAt: now, now, storeNow: 1_763_678_400_123 }
      const saga = { ...serial(1, { delayMs: 333 }), createdAt: grant.storeNow - 7 }
      const bed = RunBed.claimed(saga, 'held', {}, grant)
      bed.now = now
      bed.now = bed.tick().wakeAt ?? 0
      expect(bed.tick().calls).toEqual(['01 action #1'])
    }
  })
})

describe('a renewal that shows another version', () => {
  const grant = { ...GRANT, sentAt: NODE_START + 3_000, now: NODE_START + 3_001 }

  it('makes the run read the row again, and do nothing else until it knows', () => {
    const bed = RunBed.accepted(serial(2)).tick().step({ type: 'renewed', grant, version: 2 })
    expect(bed.types).toEqual(['reread'])
    expect(bed.answer(0, 'action', 'success').effects).toEqual([])
    expect(bed.tick(1).effects).toEqual([])
    expect(bed.step({ type: 'renewed', grant, version: 2 }).effects).toEqual([])
  })

  it('means nothing while a save is in flight: it may be our own', () => {
    const bed = RunBed.accepted(serial(2)).tick().answer(0, 'action', 'failure')
    expect(bed.step({ type: 'renewed', grant, version: 2 }).effects).toEqual([])
    expect(bed.saved().calls).toEqual(['01 compensate #1'])
  })

  it('means nothing when it is one that we know, or an older one', () => {
    const bed = RunBed.accepted(serial(2)).tick().answer(0, 'action', 'failure').saved()
    expect(bed.run.version).toBe(2)
    expect(bed.step({ type: 'renewed', grant, version: 2 }).types).toEqual([])
    expect(bed.step({ type: 'renewed', grant, version: 1 }).types).toEqual([])
  })
})

describe('the answer of a save', () => {
  for (const result of [{ type: 'fenced' }, { type: 'absent' }] as const) {
    it(`${result.type} ends the run: it is another's, nothing is told as durable`, () => {
      const bed = RunBed.accepted(serial(1)).tick().answer(0, 'action', 'success')
      bed.step({ type: 'saved', result })
      expect(bed.effects).toEqual([{ type: 'ended', how: 'lost' }])
      expect(bed.run.durableTransaction.status).toBe('submitted')
    })
  }

  it('conflict makes the run read the row again: nothing is durable, nothing is called', () => {
    const bed = RunBed.accepted(serial(2)).tick().answer(0, 'action', 'failure').conflict()
    expect(bed.effects).toEqual([{ type: 'reread' }])
    expect(bed.run).toMatchObject({
      rereading: true,
      lastSavedChange: 1,
      durableTransaction: { status: 'submitted' },
    })
    expect(bed.tick(5_000).effects).toEqual([])
  })

  it('without a save in flight is a bug', () => {
    const { run } = RunBed.accepted(serial(1)).tick()
    const saved = { type: 'saved', result: { type: 'fenced' } } as const
    expect(() => stepRun(RULES, run, saved, NODE_START)).toThrow('a save ended that was not in flight')
  })
})

describe('a drained run', () => {
  const draining = (when: 'when-calls-end' | 'now') =>
    RunBed.accepted(serial(2)).tick().step({ type: 'drain', when })

  it('is given back when its calls have ended, and starts no other', () => {
    const bed = draining('when-calls-end')
    expect(bed.effects).toEqual([])
    bed.answer(0, 'action', 'success')
    expect(bed.types).toEqual(['save'])
    expect(bed.save).toMatchObject({
      status: 'submitted',
      sentList: 'released',
      hold: { type: 'release', dueAt: bed.storeNow },
    })
    bed.saved()
    expect(bed.end).toEqual({ type: 'ended', how: 'released', dueAt: bed.storeNow })
  })

  it('is given back at once with its calls in flight written as sent', () => {
    const bed = draining('now')
    expect(bed.save).toMatchObject({ hold: { type: 'release', dueAt: bed.storeNow } })
    expect(JSON.parse(bed.save?.progress ?? '{}')).toMatchObject({
      b: [{ a: { state: 'calling', attempts: 1 } }],
    })
  })

  it('is given back at once when the patience for its calls is over', () => {
    const bed = draining('when-calls-end').tick(8_000)
    expect(bed.effects).toEqual([])
    expect(bed.step({ type: 'drain', when: 'now' }).save).toMatchObject({ hold: { type: 'release' } })
  })

  it('is given back at once when nothing is in flight', () => {
    const bed = RunBed.accepted(serial(1)).tick().answer(0, 'action', 'unknown').saved()
    expect(bed.step({ type: 'drain', when: 'when-calls-end' }).save).toMatchObject({
      hold: { type: 'release' },
    })
  })

  it('finishes instead when its last call was the last', () => {
    const bed = RunBed.accepted(serial(1)).tick().step({ type: 'drain', when: 'when-calls-end' })
    expect(bed.answer(0, 'action', 'success').save).toMatchObject({ hold: { type: 'finish' } })
    expect(bed.saved().end).toEqual({ type: 'ended', how: 'finished' })
  })

  it('waits for the save in flight, then is given back without a call in between', () => {
    const bed = RunBed.accepted(serial(2)).tick().answer(0, 'action', 'failure')
    expect(bed.step({ type: 'drain', when: 'now' }).effects).toEqual([])
    bed.saved()
    expect(bed.types).toEqual(['durable', 'save'])
    expect(bed.save).toMatchObject({ status: 'aborting', version: 2, hold: { type: 'release' } })
    expect(bed.saved().end).toMatchObject({ how: 'released' })
  })

  it('carries an abort that is not durable yet in the same save', () => {
    const bed = RunBed.accepted(serial(2)).tick().step({ type: 'drain', when: 'when-calls-end' })
    expect(bed.answer(0, 'action', 'failure').save).toMatchObject({
      status: 'aborting',
      hold: { type: 'release' },
    })
  })

  it('that is not a class A store’s does not hand on its list', () => {
    const bed = RunBed.accepted(serial(1), { releaseKeepsSentList: false }).tick()
    expect(bed.step({ type: 'drain', when: 'now' }).save).not.toHaveProperty('sentList')
  })
})

describe('a result that comes while the row is being given back', () => {
  it('is not told as durable', () => {
    const bed = RunBed.accepted(serial(2)).tick().step({ type: 'drain', when: 'now' })
    bed.answer(0, 'action', 'failure')
    expect(bed.effects).toEqual([])
    bed.saved()
    expect(bed.effects).toEqual([
      { type: 'durable', lastSavedChange: 1 },
      { type: 'ended', how: 'released', dueAt: CREATED_AT },
    ])
  })
})

describe('the calls in flight', () => {
  it('are counted over both ops', () => {
    const bed = RunBed.accepted(parallel(2)).tick()
    expect(hasCallInFlight(bed.run)).toBe(true)
    bed.answer(0, 'action', 'failure').saved()
    expect(bed.calls).toEqual(['01 compensate #1'])
    expect(hasCallInFlight(bed.run)).toBe(true)
    expect(hasCallInFlight(bed.answer(1, 'action', 'success').run)).toBe(true)
  })

  it('that answer late, by another attempt, change nothing', () => {
    const bed = RunBed.accepted(serial(2)).tick()
    const { transaction } = bed.run
    const late = (branch: number, op: SagaOp, result: Result) => answered(branch, op, result, { attempt: 7 })
    bed.step(late(0, 'action', 'failure')).step(late(0, 'compensate', 'success'))
    expect(bed.run.transaction).toBe(transaction)
  })
})

describe('a claimed run', () => {
  it('asks again what an earlier owner had in flight, with the next attempt', () => {
    const saga = after(serial(1), [sent([0, 'action']), { type: 'claimed', epoch: 2, sentUnknown: false }])
    expect(RunBed.claimed(saga, 'held').tick().calls).toEqual(['01 action #2'])
  })

  it('knows its list of sent actions only after a clean release', () => {
    expect(RunBed.claimed(serial(1), 'held').run.sentListKnown).toBe(true)
    expect(RunBed.claimed(serial(1), 'unknown').run.sentListKnown).toBe(false)
  })
})
