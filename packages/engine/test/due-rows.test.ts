import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { AlarmClock } from '../src/alarm-clock.ts'
import { DueRows } from '../src/due-rows.ts'
import type { DueRow } from '../src/far-rows.ts'
import { FakeTime, START_AT } from './support/fake-time.ts'

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

  it('S40: Where too many of one submitter are due in minutes to days, those that are due last are not known', async () => {
    const { time, add, told, count } = fixture()
    for (let n = 0; n < 10_500; n++) add(`far-${n}`, HOUR_MS + n * 1_000)
    add('sooner', 73_000)
    add('near', 5_000)
    add('other', HOUR_MS + 10_400 * 1_000, { submitter: 'bank' })
    await time.advance(5 * HOUR_MS)
    expect(['sooner', 'near', 'other'].map(count)).toEqual([1, 1, 1])
    const far = told.filter((gid) => gid.startsWith('far-'))
    expect(far).toHaveLength(9_999)
    // Within a minute the one that was added last gives way.
    expect(far.slice(0, 9_900)).toEqual(Array.from({ length: 9_900 }, (_, n) => `far-${n}`))
    add('far-again', time.now - START_AT + HOUR_MS)
    await time.advance(HOUR_MS + 101)
    expect(count('far-again')).toBe(1)
  })

  it('S40: Where too many of all are due so, the submitter that has the most gives way', async () => {
    const { time, add, told } = fixture()
    for (let n = 0; n < 10_000; n++)
      for (const submitter of ['a', 'b', 'c', 'd', 'e']) add(submitter, HOUR_MS + n * 100, { submitter })
    for (let n = 0; n < 20; n++) add('shop', 2 * HOUR_MS + n * 100)
    await time.advance(3 * HOUR_MS)
    expect(told.filter((gid) => gid === 'shop')).toHaveLength(20)
    expect(told).toHaveLength(50_000)
  })
})
