import { describe, expect, it } from 'vitest'
import { NODE_START, RunBed } from '../../test/run-bed.ts'
import { after, answered, CREATED_AT, parallel, sagaOf, sent, serial } from '../../test/sagas.ts'
import { isRetrying } from './plan-save.ts'

/** Of the branches in the save that the last step asked for. */
function savedBranches(bed: RunBed): unknown {
  return JSON.parse(bed.save?.progress ?? '{}').b
}

describe('one save is in flight', () => {
  it('and what comes meanwhile merges into the next', () => {
    const bed = RunBed.accepted(sagaOf([{ after: [] }, { after: [] }, { after: [] }])).tick()
    bed.answer(0, 'action', 'failure')
    expect(bed.types).toEqual(['save'])
    bed.answer(1, 'action', 'success')
    expect(bed.types).toEqual([])
    bed.step({ type: 'command', command: { type: 'retry-asked' } })
    expect(bed.types).toEqual([])
    bed.saved()
    expect(bed.told).toBe(2)
    expect(bed.save).toMatchObject({ version: 2, status: 'aborting' })
    expect(savedBranches(bed)).toMatchObject([
      { a: { state: 'failed' } },
      { a: { state: 'succeeded' } },
      { a: { state: 'calling' } },
    ])
    expect(bed.calls).toEqual([])
    expect(bed.saved().told).toBe(4)
    expect(bed.calls).toEqual(['01 compensate #1', '02 compensate #1'])
  })

  it('and the end waits for it', () => {
    const bed = RunBed.accepted(serial(1, { checkpointMs: 10 })).tick()
    bed.step({ type: 'command', command: { type: 'retry-asked' } })
    expect(bed.answer(0, 'action', 'success').types).toEqual([])
    expect(bed.saved().save).toMatchObject({ status: 'succeeded', version: 2, hold: { type: 'finish' } })
  })
})

describe('a lazy change', () => {
  const progressed = () => {
    const bed = RunBed.accepted(serial(20)).tick(100)
    return bed.answer(0, 'action', 'success')
  }

  it('is saved after checkpointMs, and not before', () => {
    const bed = progressed()
    expect([bed.save, bed.wakeAt]).toEqual([undefined, NODE_START + 100 + 1_000])
    expect(bed.tick(999).save).toBeUndefined()
    expect(bed.tick(1).save).toMatchObject({ status: 'submitted', hold: { type: 'keep' } })
  })

  it('is counted from the oldest that is unsaved', () => {
    const bed = progressed()
    bed.now += 600
    expect(bed.answer(1, 'action', 'success').wakeAt).toBe(NODE_START + 100 + 1_000)
  })

  it('is not awaited: calls go on while its save is in flight', () => {
    const bed = progressed().tick(1_000)
    expect(bed.answer(1, 'action', 'success').calls).toEqual(['03 action #1'])
  })

  it('that comes while a save is in flight has a checkpointMs of its own', () => {
    const bed = progressed().tick(1_000)
    bed.now += 5
    bed.answer(1, 'action', 'success')
    bed.now += 5
    bed.saved()
    expect([bed.save, bed.wakeAt]).toEqual([undefined, NODE_START + 1_105 + 1_000])
    expect(bed.tick(994).save).toBeUndefined()
    expect(bed.tick(1).save).toMatchObject({ version: 2 })
  })

  it('does not cost a second save when the first one held it', () => {
    const bed = progressed().tick(1_000).saved()
    expect([bed.save, bed.wakeAt]).toEqual([undefined, undefined])
    expect(bed.tick(60_000).save).toBeUndefined()
  })

  it('goes with the next strong one', () => {
    const bed = progressed().answer(1, 'action', 'failure')
    expect(savedBranches(bed)).toMatchObject([{ a: { state: 'succeeded' } }, { a: { state: 'failed' } }])
    expect(bed.saved().wakeAt).toBeUndefined()
  })
})

describe('strict mode', () => {
  it('saves every result before the next call, forward and backward', () => {
    const bed = RunBed.accepted(serial(3, { checkpointMs: 0 })).tick()
    expect(bed.answer(0, 'action', 'success').types).toEqual(['save'])
    expect(bed.saved().calls).toEqual(['02 action #1'])
    expect(bed.answer(1, 'action', 'failure').types).toEqual(['save'])
    expect(bed.saved().calls).toEqual(['02 compensate #1'])
    expect(bed.answer(1, 'compensate', 'success').types).toEqual(['save'])
    expect(bed.saved().calls).toEqual(['01 compensate #1'])
  })
})

describe('an unknown answer', () => {
  it('is saved before the branch is asked again, though its wait is over', () => {
    const bed = RunBed.accepted(serial(1)).tick().answer(0, 'action', 'unknown')
    expect(bed.save).toMatchObject({ hold: { type: 'keep' }, retrying: true })
    expect(savedBranches(bed)).toMatchObject([{ a: { state: 'waiting', failures: 1, waits: 1 } }])
    expect(bed.tick(5_000).calls).toEqual([])
    expect(bed.saved().calls).toEqual(['01 action #2'])
  })

  it('waits in memory when its wait is short', () => {
    const bed = RunBed.accepted(serial(1)).tick().answer(0, 'action', 'ongoing').saved()
    expect([bed.calls, bed.save, bed.wakeAt]).toEqual([[], undefined, NODE_START + 200])
    expect(bed.tick(200).calls).toEqual(['01 action #2'])
  })

  it('costs one save, which gives the row back, when its wait is longer than holdMs', () => {
    const bed = RunBed.accepted(sagaOf([{ retry: { initialMs: 1_001 } }]))
      .tick()
      .answer(0, 'action', 'unknown')
    expect(bed.types).toContain('save')
    expect(bed.save).toMatchObject({
      status: 'submitted',
      retrying: true,
      sentList: 'released',
      hold: { type: 'release', dueAt: CREATED_AT + 1_001 },
    })
    expect(savedBranches(bed)).toMatchObject([
      { a: { state: 'waiting', failures: 1, nextAt: CREATED_AT + 1_001 } },
    ])
    expect(bed.tick(5_000).calls).toEqual([])
    bed.saved()
    expect(bed.end).toEqual({ type: 'ended', how: 'released', dueAt: CREATED_AT + 1_001 })
    expect(bed.saves).toHaveLength(1)
  })

  it('of exactly holdMs waits in memory', () => {
    const bed = RunBed.accepted(sagaOf([{ retry: { initialMs: 1_000 } }]))
      .tick()
      .answer(0, 'action', 'unknown')
    expect(bed.save).toMatchObject({ hold: { type: 'keep' } })
  })

  it('gives the row back when it has waited often, however short it waits', () => {
    const bed = RunBed.accepted(sagaOf([{ retry: { initialMs: 10, capMs: 1_000 } }])).tick()
    for (let waits = 1; waits < 5; waits += 1) {
      bed.answer(0, 'action', 'unknown')
      expect(bed.save).toMatchObject({ hold: { type: 'keep' } })
      bed.saved().tick(1_000)
    }
    bed.answer(0, 'action', 'unknown')
    expect(bed.save).toMatchObject({ hold: { type: 'release' } })
  })

  it('gives the row back until the deadline when that is earlier', () => {
    const saga = sagaOf([{ retry: { initialMs: 30_000 } }], { deadlineMs: 8_000 })
    const bed = RunBed.accepted(saga).tick().answer(0, 'action', 'unknown')
    expect(bed.save?.hold).toEqual({ type: 'release', dueAt: CREATED_AT + 8_000 })
  })

  it('stays here when the deadline is nearer than holdMs', () => {
    const saga = sagaOf([{ retry: { initialMs: 30_000 } }], { deadlineMs: 900 })
    const bed = RunBed.accepted(saga).tick().answer(0, 'action', 'unknown')
    expect(bed.save?.hold).toEqual({ type: 'keep' })
    expect(bed.saved().wakeAt).toBe(NODE_START + 900)
  })

  it('gives back a compensation that waits, too', () => {
    const bed = RunBed.accepted(sagaOf([{ retry: { initialMs: 5_000 } }])).tick()
    bed.answer(0, 'action', 'failure').saved().answer(0, 'compensate', 'failure')
    expect(bed.save).toMatchObject({
      status: 'aborting',
      attention: true,
      retrying: true,
      hold: { type: 'release', dueAt: CREATED_AT + 5_000 },
    })
  })

  it('is asked again at the instant of the record by whoever claims the row then', () => {
    const bed = RunBed.accepted(sagaOf([{ retry: { initialMs: 5_000 } }])).tick()
    bed.now += 0.25
    bed.answer(0, 'action', 'unknown')
    const nextAt = bed.saga.branches[0]?.action.nextAt
    expect(Number.isInteger(nextAt)).toBe(true)
    expect(bed.save?.hold).toEqual({ type: 'release', dueAt: nextAt })
  })
})

describe('the list of sent actions', () => {
  const plans = [{ retry: { initialMs: 5_000 } }]

  it('is handed on by a clean release of a run that knows it, on a store that keeps it', () => {
    const bed = RunBed.claimed(sagaOf(plans), 'held').tick().answer(0, 'action', 'unknown')
    expect(bed.save).toMatchObject({ sentList: 'released', hold: { type: 'release' } })
  })

  it('is not handed on where a release may be lost', () => {
    const bed = RunBed.claimed(sagaOf(plans), 'held', { releaseKeepsSentList: false }).tick()
    expect(bed.answer(0, 'action', 'unknown').save).not.toHaveProperty('sentList')
  })

  it('is not handed on by a run that does not know it', () => {
    const bed = RunBed.claimed(sagaOf(plans), 'unknown').tick().answer(0, 'action', 'unknown')
    expect(bed.save).toMatchObject({ hold: { type: 'release' } })
    expect(bed.save).not.toHaveProperty('sentList')
  })

  it('is not touched by a save that keeps the row', () => {
    expect(RunBed.accepted(serial(1)).tick().answer(0, 'action', 'failure').save).not.toHaveProperty(
      'sentList',
    )
  })
})

describe('a graph with a branch that waits long', () => {
  const slow = { after: [], retry: { initialMs: 30_000 } }

  it('is not given back while another branch is in flight', () => {
    const bed = RunBed.accepted(sagaOf([slow, { after: [] }, { after: [1] }])).tick()
    bed.answer(0, 'action', 'unknown')
    expect(bed.save).toMatchObject({ hold: { type: 'keep' } })
    bed.saved()
    expect(bed.answer(1, 'action', 'success').calls).toEqual(['03 action #1'])
  })

  it('is not given back when another branch is ready: it is called after the save of the counters', () => {
    const bed = RunBed.accepted(sagaOf([slow, { after: [] }, { after: [1] }])).tick()
    bed.answer(0, 'action', 'unknown').answer(1, 'action', 'success')
    expect(bed.calls).toEqual([])
    expect(bed.saved().calls).toEqual(['03 action #1'])
    expect(bed.save).toBeUndefined()
  })

  it('is not given back when another branch is ready and only waits for a save', () => {
    const bed = RunBed.accepted(sagaOf([slow, { after: [] }, { after: [1] }])).tick()
    bed
      .step({ type: 'command', command: { type: 'retry-asked' } })
      .answer(1, 'action', 'success')
      .answer(0, 'action', 'unknown')
    expect(bed.calls).toEqual([])
    bed.saved()
    expect([bed.calls, bed.save?.hold]).toEqual([[], { type: 'keep' }])
    expect(bed.saved().calls).toEqual(['03 action #1'])
  })

  it('is given back when nothing else is left to do', () => {
    const bed = RunBed.accepted(sagaOf([slow, { after: [] }])).tick()
    bed.answer(0, 'action', 'unknown').saved()
    bed.now += 50
    bed.answer(1, 'action', 'success')
    expect(bed.save).toMatchObject({ hold: { type: 'release', dueAt: CREATED_AT + 30_000 } })
  })
})

describe('a row that is being given back', () => {
  it('is called nothing for, though its wait ends meanwhile', () => {
    const bed = RunBed.claimed(serial(1, { delayMs: 5_000 }), 'held').tick()
    expect(bed.save?.hold).toEqual({ type: 'release', dueAt: CREATED_AT + 5_000 })
    expect(bed.tick(5_000).calls).toEqual([])
    expect(bed.saved().end?.how).toBe('released')
  })
})

describe('a command that meets the giving back', () => {
  it('is not told as durable: the run ends without it', () => {
    const bed = RunBed.accepted(sagaOf([{ retry: { initialMs: 5_000 } }]))
      .tick()
      .answer(0, 'action', 'unknown')
    const before = bed.run.lastChange
    bed.step({ type: 'command', command: { type: 'abort-asked' } }).saved()
    expect([bed.told, bed.end?.how, bed.run.lastChange > before]).toEqual([before, 'released', true])
  })
})

describe('retrying', () => {
  it('is said of a transaction with a branch that waits', () => {
    expect(isRetrying(after(serial(1), [sent([0, 'action']), answered(0, 'action', 'ongoing')]))).toBe(true)
    expect(isRetrying(after(parallel(2), [sent([0, 'action'], [1, 'action'])]))).toBe(false)
  })

  it('is not said of one that is final', () => {
    const waiting = after(serial(1), [sent([0, 'action']), answered(0, 'action', 'unknown')])
    expect(isRetrying(after(waiting, [{ type: 'stop-asked' }]))).toBe(false)
  })
})
