import { describe, expect, it } from 'vitest'
import { GRANT, NODE_START, RunFixture, SETTINGS } from '../../test/run-fixture.ts'
import { after, buildRow, buildSaga, CREATED_AT, parallel, sent, serial } from '../../test/sagas.ts'
import { planCommand } from '../commands/command-row.ts'
import type { StoredTransaction } from '../ports/store.ts'
import { decodeTransaction, FORMAT } from '../record/record.ts'
import { RULES } from '../rules/rules.ts'
import type { Transaction } from '../transaction.ts'

const LATER = CREATED_AT + 3_000

/** Builds the row after a command by a node that read it as `stored`. */
function commanded(stored: Transaction, command: 'abort' | 'retry' | 'stop', version = 1): StoredTransaction {
  const row = buildRow(stored, { version })
  const plan = planCommand(
    RULES,
    row,
    { type: `${command}-asked` },
    { retentionMs: SETTINGS.retentionMs, storeNow: LATER },
  )
  if (plan.type !== 'update') throw new Error(`it is ${plan.type}`)
  const { writeId: _, ...known } = row
  const { hold: _hold, ...written } = plan.update
  return { ...known, ...written, writeId: 'w2', version: version + 1, updatedAt: LATER }
}

/** A renewal or a conflict shows the foreign command, and the row is read again after the command was stored. */
function learnRow(fixture: RunFixture, row: StoredTransaction | undefined): RunFixture {
  fixture.now = NODE_START + LATER - CREATED_AT
  const grant = { ...GRANT, sentAt: fixture.now, now: fixture.now, storeNow: fixture.storeNow }
  if (!fixture.run.rereading) fixture.step({ type: 'renewed', grant, version: fixture.run.version + 1 })
  expect(fixture.run.rereading).toBe(true)
  return fixture.step({ type: 'reread', row })
}

describe('a foreign abort', () => {
  const accepted = serial(3)

  it('A foreign abort counts, our results are kept, and every branch is compensated', () => {
    const fixture = RunFixture.accepted(accepted).tick().answer(0, 'action', 'success')
    learnRow(fixture, commanded(accepted, 'abort'))
    expect(fixture.types).toEqual(['save'])
    expect(fixture.save).toMatchObject({ version: 2, status: 'aborting', hold: { type: 'keep' } })
    expect(JSON.parse(fixture.save?.progress ?? '{}')).toMatchObject({
      abort: { cause: 'requested', at: LATER, branches: [0, 1, 2] },
      b: [{ a: { state: 'succeeded' } }, { a: { state: 'calling' } }],
    })
    // 02 is in flight, so 03, which we never sent, gets its null
    // compensation first, and 02 follows after its own answer.
    expect(fixture.saved().calls).toEqual(['03 compensate #1'])
    expect(fixture.answer(2, 'compensate', 'success').calls).toEqual([])
    expect(fixture.answer(1, 'action', 'success').calls).toEqual(['02 compensate #1'])
    expect(fixture.answer(1, 'compensate', 'success').calls).toEqual(['01 compensate #1'])
  })

  it('No further action starts once a foreign abort is known', () => {
    const fixture = learnRow(RunFixture.accepted(accepted).tick(), commanded(accepted, 'abort'))
    expect(fixture.saved().answer(0, 'action', 'success').calls).not.toContain('02 action #1')
  })

  it('A foreign abort is shown as soon as it is known, because it is durable', () => {
    const fixture = learnRow(RunFixture.accepted(accepted).tick(), commanded(accepted, 'abort'))
    expect(fixture.run.durableTransaction.status).toBe('aborting')
  })

  it('A foreign abort before our finish wins, and succeeded branches are compensated', () => {
    const saga = serial(1)
    const fixture = RunFixture.accepted(saga).tick().answer(0, 'action', 'success')
    expect(fixture.save).toMatchObject({ status: 'succeeded' })
    learnRow(fixture.conflict(), commanded(saga, 'abort'))
    expect(fixture.run.transaction).toMatchObject({ status: 'aborting', sentUnknown: true })
    expect(fixture.run.transaction).not.toHaveProperty('finishedAt')
    expect(fixture.save).toMatchObject({ status: 'aborting', version: 2 })
    expect(fixture.saved().calls).toEqual(['01 compensate #1'])
    expect(fixture.answer(0, 'compensate', 'success').saved().end).toEqual({ type: 'ended', how: 'finished' })
    expect(fixture.run.durableTransaction.status).toBe('failed')
  })

  it('A foreign abort before our own abort widens our list to every branch', () => {
    const fixture = RunFixture.accepted(accepted).tick().answer(0, 'action', 'failure')
    learnRow(fixture.conflict(), commanded(accepted, 'abort'))
    expect(fixture.run.transaction).toMatchObject({
      status: 'aborting',
      abort: { cause: 'requested', branches: [0, 1, 2] },
      branches: [{ action: { state: 'failed' } }, {}, {}],
    })
    expect(fixture.calls).toEqual([])
    expect(fixture.saved().calls).toEqual(['03 compensate #1'])
  })

  it('Answers that came during the reread are kept', () => {
    const fixture = RunFixture.accepted(parallel(2)).tick().answer(0, 'action', 'failure').conflict()
    fixture.answer(1, 'action', 'success')
    expect(fixture.effects).toEqual([])
    learnRow(fixture, commanded(parallel(2), 'abort'))
    expect(fixture.saga.branches[1]?.action.state).toBe('succeeded')
    expect(JSON.parse(fixture.save?.progress ?? '{}').b).toMatchObject([{}, { a: { state: 'succeeded' } }])
  })

  it('A foreign abort ends the wait of an action, and no action is retried', () => {
    const saga = buildSaga([{}])
    const fixture = RunFixture.accepted(saga).tick().answer(0, 'action', 'unknown').saved()
    learnRow(fixture, commanded(saga, 'abort', 2))
    expect(fixture.save).toMatchObject({ retrying: false, attention: false })
    expect(fixture.saga.branches[0]?.action).not.toHaveProperty('nextAt')
    expect(fixture.saved().calls).toEqual(['01 compensate #1'])
  })

  it('A release after a foreign abort does not claim a complete list', () => {
    const saga = buildSaga([{ retry: { initialMs: 5_000 } }])
    const fixture = learnRow(RunFixture.accepted(saga).tick(), commanded(saga, 'abort')).saved()
    expect(fixture.run.transaction.sentUnknown).toBe(true)
    fixture.answer(0, 'action', 'success').answer(0, 'compensate', 'unknown')
    expect(fixture.save).toMatchObject({ hold: { type: 'release' } })
    expect(fixture.save).not.toHaveProperty('sentList')
  })
})

describe('a foreign stop', () => {
  it('A foreign stop ends the run, because it was durable first', () => {
    const fixture = RunFixture.accepted(serial(2)).tick().answer(0, 'action', 'success')
    learnRow(fixture, commanded(serial(2), 'stop'))
    expect(fixture.types).toEqual(['durable', 'ended'])
    expect(fixture.end).toEqual({ type: 'ended', how: 'finished' })
    expect(fixture.run).toMatchObject({
      durableTransaction: { status: 'stopped' },
      transaction: { status: 'stopped', finishedAt: LATER },
    })
    expect(fixture.answer(1, 'action', 'success').effects).toEqual([])
  })

  it('A foreign stop before our finish wins', () => {
    const fixture = RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'success').conflict()
    fixture.step({ type: 'reread', row: commanded(serial(1), 'stop') })
    expect([fixture.end?.how, fixture.run.durableTransaction.status]).toEqual(['finished', 'stopped'])
  })
})

describe('a foreign retry', () => {
  const waiting = () =>
    RunFixture.accepted(parallel(2, { checkpointMs: 60_000 }))
      .tick()
      .answer(0, 'action', 'unknown')
      .saved()

  it('A foreign retry makes waiting calls at once, after one save', () => {
    const fixture = waiting()
    const stored = decodeTransaction(buildRow(fixture.run.transaction))
    learnRow(fixture, commanded(stored, 'retry', 2))
    expect(fixture.types).toEqual(['save'])
    expect(fixture.save).toMatchObject({ version: 3, status: 'submitted' })
    expect(fixture.saved().calls).toEqual(['01 action #2'])
    expect(fixture.run.transaction.manualRetries).toBe(1)
  })

  it('A foreign retry keeps our results and our list', () => {
    const fixture = waiting().answer(1, 'action', 'success')
    const stored = decodeTransaction(buildRow(fixture.run.transaction))
    learnRow(fixture, commanded(stored, 'retry', 2)).saved()
    expect(fixture.run.transaction).toMatchObject({
      sentUnknown: false,
      branches: [{ action: { attempts: 2 } }, { action: { state: 'succeeded' } }],
    })
  })

  it('A foreign retry does not prevent our finish', () => {
    const fixture = RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'success').conflict()
    fixture.step({ type: 'reread', row: commanded(after(serial(1), [sent([0, 'action'])]), 'retry') })
    expect(fixture.save).toMatchObject({ status: 'succeeded', version: 2 })
    expect(fixture.saved().end).toEqual({ type: 'ended', how: 'finished' })
  })

  it('A foreign retry does not prevent our abort', () => {
    const fixture = RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'failure').conflict()
    fixture.step({ type: 'reread', row: commanded(after(serial(1), [sent([0, 'action'])]), 'retry') })
    expect(fixture.save).toMatchObject({ status: 'aborting', version: 2 })
    expect(fixture.saved().calls).toEqual(['01 compensate #1'])
  })

  it('A foreign retry of an aborting saga calls the waiting compensation at once', () => {
    const fixture = RunFixture.accepted(parallel(2)).tick()
    fixture.answer(0, 'action', 'failure').saved().answer(0, 'compensate', 'failure').saved()
    expect(fixture.saga.branches[0]?.compensate.state).toBe('waiting')
    expect(fixture.run.transaction.attention).toBeDefined()
    const row = commanded(decodeTransaction(buildRow(fixture.run.transaction)), 'retry', fixture.run.version)
    learnRow(fixture, row)
    expect(fixture.save).toMatchObject({ attention: false })
    expect(fixture.run.transaction).toMatchObject({ sentUnknown: false, manualRetries: 1 })
    expect(fixture.saved().calls).toEqual(['01 compensate #2'])
  })
})

describe('a stop of our own that is not durable yet', () => {
  it('Our stop still counts after a foreign abort', () => {
    const fixture = RunFixture.accepted(serial(2))
      .tick()
      .step({ type: 'command', command: { type: 'stop-asked' } })
      .conflict()
    fixture.step({ type: 'reread', row: commanded(serial(2), 'abort') })
    expect(fixture.save).toMatchObject({ status: 'stopped', version: 2, hold: { type: 'finish' } })
  })

  it('Our stop keeps the foreign abort in the record, because a caller may have seen it', () => {
    const fixture = RunFixture.accepted(serial(2))
      .tick()
      .step({ type: 'command', command: { type: 'stop-asked' } })
      .conflict()
    learnRow(fixture, commanded(serial(2), 'abort'))
    expect(JSON.parse(fixture.save?.progress ?? '{}')).toMatchObject({
      abort: { cause: 'requested', at: LATER, branches: [0, 1] },
    })
  })
})

describe('a row that is not ours any more', () => {
  for (const [name, row] of Object.entries({
    gone: undefined,
    'under another token': buildRow(serial(1), { token: 'b'.repeat(32), version: 2 }),
    'of a newer format': buildRow(serial(1), { format: FORMAT + 1, version: 2 }),
    'given back': buildRow(serial(1), { owned: false, version: 2 }),
  })) {
    it(`ends the run without a write: ${name}`, () => {
      const fixture = RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'success').conflict()
      fixture.step({ type: 'reread', row })
      expect(fixture.effects).toEqual([{ type: 'ended', how: 'lost' }])
    })
  }
})

describe('a row that was read again for nothing', () => {
  it('A reread without news hastens no call', () => {
    const fixture = RunFixture.accepted(parallel(2)).tick()
    fixture.now += 3_000
    fixture.answer(0, 'action', 'unknown').saved()
    learnRow(fixture, buildRow(fixture.run.transaction, { version: 3 })).saved()
    expect(fixture.calls).toEqual([])
    expect(fixture.tick(200).calls).toEqual(['01 action #2'])
  })

  it('A reread without news costs one save and changes nothing', () => {
    const fixture = RunFixture.accepted(serial(2)).tick().answer(0, 'action', 'success')
    learnRow(fixture, buildRow(serial(2), { version: 2 }))
    expect(fixture.save).toMatchObject({ status: 'submitted', version: 2 })
    fixture.saved()
    expect(fixture.answer(1, 'action', 'success').save).toMatchObject({ status: 'succeeded', version: 3 })
  })
})
