import { describe, expect, it } from 'vitest'
import { NODE_START, RunFixture, SETTINGS } from '../../test/run-fixture.ts'
import { buildSaga, serial } from '../../test/sagas.ts'
import { mayShow } from './run.ts'

function isShown(fixture: RunFixture): boolean {
  return mayShow(fixture.run, fixture.now)
}

describe('what a node has in memory', () => {
  it('The state in memory may be shown while no save is in flight', () => {
    expect(isShown(RunFixture.accepted(serial(2)).tick().answer(0, 'action', 'success'))).toBe(true)
  })

  it('The state in memory may be shown during a save that changes no status', () => {
    const fixture = RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'ongoing')
    expect(fixture.save).toMatchObject({ status: 'submitted', hold: { type: 'keep' } })
    expect(isShown(fixture)).toBe(true)
  })

  it('The state in memory may not be shown during a save that changes the status', () => {
    expect(isShown(RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'failure'))).toBe(false)
    expect(isShown(RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'success'))).toBe(false)
  })

  it('The state in memory may be shown again when that save is durable', () => {
    expect(isShown(RunFixture.accepted(serial(1)).tick().answer(0, 'action', 'failure').saved())).toBe(true)
  })

  it('The state in memory may not be shown during a release, because another node may have claimed the row', () => {
    const fixture = RunFixture.accepted(buildSaga([{ retry: { initialMs: 5_000 } }]))
      .tick()
      .answer(0, 'action', 'unknown')
    expect(fixture.save?.hold.type).toBe('release')
    expect(isShown(fixture)).toBe(false)
  })

  it('The state in memory may not be shown during a reread, because a caller may have seen a stop', () => {
    const fixture = RunFixture.accepted(serial(2)).tick()
    const grant = { sentAt: fixture.now, now: fixture.now, storeNow: fixture.storeNow }
    fixture.step({ type: 'renewed', grant, version: 2 })
    expect(fixture.run.rereading).toBe(true)
    expect(isShown(fixture)).toBe(false)
  })

  it('The state in memory may not be shown after the lease or after the run', () => {
    const fixture = RunFixture.accepted(serial(1)).tick()
    fixture.now = NODE_START + SETTINGS.leaseMs - 1
    expect(isShown(fixture)).toBe(true)
    fixture.now++
    expect(isShown(fixture)).toBe(false)
    expect(isShown(RunFixture.accepted(serial(1)).step({ type: 'lease-lost' }))).toBe(false)
  })
})
