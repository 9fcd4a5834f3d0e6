import { describe, expect, it } from 'vitest'
import { GRANT, NODE_START, RunBed, SETTINGS } from '../../test/run-bed.ts'
import { after, CREATED_AT, parallel, rowOf, sagaOf, sent, serial } from '../../test/sagas.ts'
import { planCommand } from '../commands/command-row.ts'
import type { StoredTransaction } from '../ports/store.ts'
import { decodeTransaction, FORMAT } from '../record/record.ts'
import { RULES } from '../rules/rules.ts'
import type { Transaction } from '../transaction.ts'

const LATER = CREATED_AT + 3_000

/** The row after a command by a node that read it as `stored`. */
function commanded(stored: Transaction, command: 'abort' | 'retry' | 'stop', version = 1): StoredTransaction {
  const row = rowOf(stored, { version })
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

/** A renewal or a conflict shows the foreign command; the row is read again, not before the command was stored. */
function learnRow(bed: RunBed, row: StoredTransaction | undefined): RunBed {
  bed.now = NODE_START + LATER - CREATED_AT
  const grant = { ...GRANT, sentAt: bed.now, now: bed.now, storeNow: bed.storeNow }
  if (!bed.run.rereading) bed.step({ type: 'renewed', grant, version: bed.run.version + 1 })
  expect(bed.run.rereading).toBe(true)
  return bed.step({ type: 'reread', row })
}

describe('a foreign abort', () => {
  const accepted = serial(3)

  it('counts, our results are kept, and every branch is compensated', () => {
    const bed = RunBed.accepted(accepted).tick().answer(0, 'action', 'success')
    learnRow(bed, commanded(accepted, 'abort'))
    expect(bed.types).toEqual(['save'])
    expect(bed.save).toMatchObject({ version: 2, status: 'aborting', hold: { type: 'keep' } })
    expect(JSON.parse(bed.save?.progress ?? '{}')).toMatchObject({
      abort: { cause: 'requested', at: LATER, branches: [0, 1, 2] },
      b: [{ a: { state: 'succeeded' } }, { a: { state: 'calling' } }],
    })
    // 02 is in flight: 03, which we never sent, gets its null compensation first, 02 after its own answer.
    expect(bed.saved().calls).toEqual(['03 compensate #1'])
    expect(bed.answer(2, 'compensate', 'success').calls).toEqual([])
    expect(bed.answer(1, 'action', 'success').calls).toEqual(['02 compensate #1'])
    expect(bed.answer(1, 'compensate', 'success').calls).toEqual(['01 compensate #1'])
  })

  it('starts no further action from the moment that we know of it', () => {
    const bed = learnRow(RunBed.accepted(accepted).tick(), commanded(accepted, 'abort'))
    expect(bed.saved().answer(0, 'action', 'success').calls).not.toContain('02 action #1')
  })

  it('is shown as soon as it is known: it is durable', () => {
    const bed = learnRow(RunBed.accepted(accepted).tick(), commanded(accepted, 'abort'))
    expect(bed.run.durableTransaction.status).toBe('aborting')
  })

  it('that came before our finish wins: what succeeded is compensated', () => {
    const saga = serial(1)
    const bed = RunBed.accepted(saga).tick().answer(0, 'action', 'success')
    expect(bed.save).toMatchObject({ status: 'succeeded' })
    learnRow(bed.conflict(), commanded(saga, 'abort'))
    expect(bed.run.transaction).toMatchObject({ status: 'aborting', sentUnknown: true })
    expect(bed.run.transaction).not.toHaveProperty('finishedAt')
    expect(bed.save).toMatchObject({ status: 'aborting', version: 2 })
    expect(bed.saved().calls).toEqual(['01 compensate #1'])
    expect(bed.answer(0, 'compensate', 'success').saved().end).toEqual({ type: 'ended', how: 'finished' })
    expect(bed.run.durableTransaction.status).toBe('failed')
  })

  it('that came before our own abort widens our list to every branch', () => {
    const bed = RunBed.accepted(accepted).tick().answer(0, 'action', 'failure')
    learnRow(bed.conflict(), commanded(accepted, 'abort'))
    expect(bed.run.transaction).toMatchObject({
      status: 'aborting',
      abort: { cause: 'requested', branches: [0, 1, 2] },
      branches: [{ action: { state: 'failed' } }, {}, {}],
    })
    expect(bed.calls).toEqual([])
    expect(bed.saved().calls).toEqual(['03 compensate #1'])
  })

  it('keeps what came in while the row was read again', () => {
    const bed = RunBed.accepted(parallel(2)).tick().answer(0, 'action', 'failure').conflict()
    bed.answer(1, 'action', 'success')
    expect(bed.effects).toEqual([])
    learnRow(bed, commanded(parallel(2), 'abort'))
    expect(bed.saga.branches[1]?.action.state).toBe('succeeded')
    expect(JSON.parse(bed.save?.progress ?? '{}').b).toMatchObject([{}, { a: { state: 'succeeded' } }])
  })

  it('ends the waiting of an action: nothing is retried forward any more', () => {
    const saga = sagaOf([{}])
    const bed = RunBed.accepted(saga).tick().answer(0, 'action', 'unknown').saved()
    learnRow(bed, commanded(saga, 'abort', 2))
    expect(bed.save).toMatchObject({ retrying: false, attention: false })
    expect(bed.saga.branches[0]?.action).not.toHaveProperty('nextAt')
    expect(bed.saved().calls).toEqual(['01 compensate #1'])
  })

  it('is remembered in the row: a later release does not claim to know what was sent', () => {
    const saga = sagaOf([{ retry: { initialMs: 5_000 } }])
    const bed = learnRow(RunBed.accepted(saga).tick(), commanded(saga, 'abort')).saved()
    expect(bed.run.transaction.sentUnknown).toBe(true)
    bed.answer(0, 'action', 'success').answer(0, 'compensate', 'unknown')
    expect(bed.save).toMatchObject({ hold: { type: 'release' } })
    expect(bed.save).not.toHaveProperty('sentList')
  })
})

describe('a foreign stop', () => {
  it('ends the run, whatever we know: it was durable first', () => {
    const bed = RunBed.accepted(serial(2)).tick().answer(0, 'action', 'success')
    learnRow(bed, commanded(serial(2), 'stop'))
    expect(bed.types).toEqual(['durable', 'ended'])
    expect(bed.end).toEqual({ type: 'ended', how: 'finished' })
    expect(bed.run).toMatchObject({
      durableTransaction: { status: 'stopped' },
      transaction: { status: 'stopped', finishedAt: LATER },
    })
    expect(bed.answer(1, 'action', 'success').effects).toEqual([])
  })

  it('that came before our finish wins', () => {
    const bed = RunBed.accepted(serial(1)).tick().answer(0, 'action', 'success').conflict()
    bed.step({ type: 'reread', row: commanded(serial(1), 'stop') })
    expect([bed.end?.how, bed.run.durableTransaction.status]).toEqual(['finished', 'stopped'])
  })
})

describe('a foreign retry', () => {
  const waiting = () =>
    RunBed.accepted(parallel(2, { checkpointMs: 60_000 }))
      .tick()
      .answer(0, 'action', 'unknown')
      .saved()

  it('asks what waits at once, after one save', () => {
    const bed = waiting()
    const stored = decodeTransaction(rowOf(bed.run.transaction))
    learnRow(bed, commanded(stored, 'retry', 2))
    expect(bed.types).toEqual(['save'])
    expect(bed.save).toMatchObject({ version: 3, status: 'submitted' })
    expect(bed.saved().calls).toEqual(['01 action #2'])
    expect(bed.run.transaction.manualRetries).toBe(1)
  })

  it('keeps our results, and our list', () => {
    const bed = waiting().answer(1, 'action', 'success')
    const stored = decodeTransaction(rowOf(bed.run.transaction))
    learnRow(bed, commanded(stored, 'retry', 2)).saved()
    expect(bed.run.transaction).toMatchObject({
      sentUnknown: false,
      branches: [{ action: { attempts: 2 } }, { action: { state: 'succeeded' } }],
    })
  })

  it('does not keep us from our finish', () => {
    const bed = RunBed.accepted(serial(1)).tick().answer(0, 'action', 'success').conflict()
    bed.step({ type: 'reread', row: commanded(after(serial(1), [sent([0, 'action'])]), 'retry') })
    expect(bed.save).toMatchObject({ status: 'succeeded', version: 2 })
    expect(bed.saved().end).toEqual({ type: 'ended', how: 'finished' })
  })

  it('does not keep us from our abort', () => {
    const bed = RunBed.accepted(serial(1)).tick().answer(0, 'action', 'failure').conflict()
    bed.step({ type: 'reread', row: commanded(after(serial(1), [sent([0, 'action'])]), 'retry') })
    expect(bed.save).toMatchObject({ status: 'aborting', version: 2 })
    expect(bed.saved().calls).toEqual(['01 compensate #1'])
  })

  it('of a transaction on its way back asks the compensation that waits at once', () => {
    const bed = RunBed.accepted(parallel(2)).tick()
    bed.answer(0, 'action', 'failure').saved().answer(0, 'compensate', 'failure').saved()
    expect(bed.saga.branches[0]?.compensate.state).toBe('waiting')
    expect(bed.run.transaction.attention).toBeDefined()
    const row = commanded(decodeTransaction(rowOf(bed.run.transaction)), 'retry', bed.run.version)
    learnRow(bed, row)
    expect(bed.save).toMatchObject({ attention: false })
    expect(bed.run.transaction).toMatchObject({ sentUnknown: false, manualRetries: 1 })
    expect(bed.saved().calls).toEqual(['01 compensate #2'])
  })
})

describe('a stop of our own that is not durable yet', () => {
  it('still counts after a foreign abort: it would be told as done', () => {
    const bed = RunBed.accepted(serial(2))
      .tick()
      .step({ type: 'command', command: { type: 'stop-asked' } })
      .conflict()
    bed.step({ type: 'reread', row: commanded(serial(2), 'abort') })
    expect(bed.save).toMatchObject({ status: 'stopped', version: 2, hold: { type: 'finish' } })
  })

  it('keeps the foreign decision in the record: a caller may have seen it', () => {
    const bed = RunBed.accepted(serial(2))
      .tick()
      .step({ type: 'command', command: { type: 'stop-asked' } })
      .conflict()
    learnRow(bed, commanded(serial(2), 'abort'))
    expect(JSON.parse(bed.save?.progress ?? '{}')).toMatchObject({
      abort: { cause: 'requested', at: LATER, branches: [0, 1] },
    })
  })
})

describe('a row that is not ours any more', () => {
  for (const [name, row] of Object.entries({
    gone: undefined,
    'under another token': rowOf(serial(1), { token: 'b'.repeat(32), version: 2 }),
    'of a newer format': rowOf(serial(1), { format: FORMAT + 1, version: 2 }),
    'given back': rowOf(serial(1), { owned: false, version: 2 }),
  })) {
    it(`ends the run without a write: ${name}`, () => {
      const bed = RunBed.accepted(serial(1)).tick().answer(0, 'action', 'success').conflict()
      bed.step({ type: 'reread', row })
      expect(bed.effects).toEqual([{ type: 'ended', how: 'lost' }])
    })
  }
})

describe('a row that was read again for nothing', () => {
  it('asks nothing earlier: only an operator does', () => {
    const bed = RunBed.accepted(parallel(2)).tick()
    bed.now += 3_000
    bed.answer(0, 'action', 'unknown').saved()
    learnRow(bed, rowOf(bed.run.transaction, { version: 3 })).saved()
    expect(bed.calls).toEqual([])
    expect(bed.tick(200).calls).toEqual(['01 action #2'])
  })

  it('costs one save and changes nothing', () => {
    const bed = RunBed.accepted(serial(2)).tick().answer(0, 'action', 'success')
    learnRow(bed, rowOf(serial(2), { version: 2 }))
    expect(bed.save).toMatchObject({ status: 'submitted', version: 2 })
    bed.saved()
    expect(bed.answer(1, 'action', 'success').save).toMatchObject({ status: 'succeeded', version: 3 })
  })
})
