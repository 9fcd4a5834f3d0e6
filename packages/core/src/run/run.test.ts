import { describe, expect, it } from 'vitest'
import { NODE_START, RunBed, SETTINGS } from '../../test/run-bed.ts'
import { sagaOf, serial } from '../../test/sagas.ts'
import { mayShow } from './run.ts'

function isShown(bed: RunBed): boolean {
  return mayShow(bed.run, bed.now)
}

describe('what a node has in memory', () => {
  it('is shown while it runs and no save is in flight', () => {
    expect(isShown(RunBed.accepted(serial(2)).tick().answer(0, 'action', 'success'))).toBe(true)
  })

  it('is shown while a save is in flight that changes no status', () => {
    const bed = RunBed.accepted(serial(1)).tick().answer(0, 'action', 'ongoing')
    expect(bed.save).toMatchObject({ status: 'submitted', hold: { type: 'keep' } })
    expect(isShown(bed)).toBe(true)
  })

  it('is not shown while a save is in flight that changes the status: the row may be further', () => {
    expect(isShown(RunBed.accepted(serial(1)).tick().answer(0, 'action', 'failure'))).toBe(false)
    expect(isShown(RunBed.accepted(serial(1)).tick().answer(0, 'action', 'success'))).toBe(false)
  })

  it('is shown again when that save is durable', () => {
    expect(isShown(RunBed.accepted(serial(1)).tick().answer(0, 'action', 'failure').saved())).toBe(true)
  })

  it('is not shown while the row is being given back: another may have taken it', () => {
    const bed = RunBed.accepted(sagaOf([{ retry: { initialMs: 5_000 } }]))
      .tick()
      .answer(0, 'action', 'unknown')
    expect(bed.save?.hold.type).toBe('release')
    expect(isShown(bed)).toBe(false)
  })

  it('is not shown while the row is read again: somebody may have been told of a stop', () => {
    const bed = RunBed.accepted(serial(2)).tick()
    const grant = { sentAt: bed.now, now: bed.now, storeNow: bed.storeNow }
    bed.step({ type: 'renewed', grant, version: 2 })
    expect(bed.run.rereading).toBe(true)
    expect(isShown(bed)).toBe(false)
  })

  it('is not shown from the end of the lease on, nor after the end of the run', () => {
    const bed = RunBed.accepted(serial(1)).tick()
    bed.now = NODE_START + SETTINGS.leaseMs - 1
    expect(isShown(bed)).toBe(true)
    bed.now++
    expect(isShown(bed)).toBe(false)
    expect(isShown(RunBed.accepted(serial(1)).step({ type: 'lease-lost' }))).toBe(false)
  })
})
