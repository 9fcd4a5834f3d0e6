import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { AlarmClock } from '../src/alarm-clock.ts'
import { type DueRow, DueRows } from '../src/due-rows.ts'
import { FakeTime } from './support/fake-time.ts'

const HOUR_MS = 3_600_000

function fixture() {
  const time = new FakeTime()
  const clock = time.clock(time.now)
  const told: string[] = []
  const alarms = new AlarmClock(clock)
  const rows = new DueRows(clock, alarms, (gid) => told.push(gid))
  const add = (gid: string, dueAt: number, of: Partial<DueRow> = {}) =>
    rows.add({ gid: gid as Gid, dueAt, submitter: 'shop', target: undefined, ...of })
  const count = (gid: string) => told.filter((one) => one === gid).length
  return { time, alarms, told, add, count }
}

describe('due rows', () => {
  it('Each is told of within a tenth of a second after it is due, and not before', async () => {
    const { time, told, add } = fixture()
    add('a', 1_020)
    add('b', 1_180)
    await time.advance(1_020)
    expect(told).toEqual([])
    await time.advance(81)
    expect(told).toEqual(['a'])
    await time.advance(100)
    expect(told).toEqual(['a', 'b'])
  })

  it('One that is due in more than two days is not told of', async () => {
    const { time, alarms, told, add } = fixture()
    add('late', 48 * HOUR_MS + 1)
    expect(alarms.size).toBe(0)
    add('in time', 48 * HOUR_MS)
    await time.advance(48 * HOUR_MS + 200)
    expect(told).toEqual(['in time'])
  })

  it('S40: Eight of each submitter are told of in a tenth of a second, and of its retries eight of each target', async () => {
    const { time, alarms, add, count } = fixture()
    for (let n = 0; n < 20; n++) {
      add('flood', 950, { submitter: 'flood' })
      add('unknown', 950, { submitter: undefined })
      add('bank', 950, { target: 'http://bank.test' })
      add('shop', 950)
    }
    expect(alarms.size).toBe(1)
    await time.advance(1_001)
    expect(['flood', 'unknown', 'bank', 'shop'].map(count)).toEqual([8, 8, 8, 8])
    add('shop', 1_950)
    await time.advance(1_000)
    expect(count('shop')).toBe(9)
  })

  it('S40: Few of those that are due in more than a minute are known of one submitter, and others and near ones beside them', async () => {
    const { time, alarms, add, count } = fixture()
    for (let n = 0; n < 10_500; n++) add('far', HOUR_MS + n * 100)
    expect(alarms.size).toBe(10_000)
    add('near', 5_000)
    add('other', HOUR_MS + 10_250 * 100, { submitter: 'bank' })
    expect(alarms.size).toBe(10_002)
    await time.advance(HOUR_MS + 10_500 * 100)
    expect(['far', 'near', 'other'].map(count)).toEqual([10_000, 1, 1])
    add('far', 2 * HOUR_MS + 10_500 * 100)
    await time.advance(HOUR_MS + 101)
    expect(count('far')).toBe(10_001)
  })
})
