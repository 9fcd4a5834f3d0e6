import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { AlarmClock } from '../src/alarm-clock.ts'
import { Target } from '../src/bulkhead/target.ts'
import { DueRetries } from '../src/due-retries.ts'
import { FakeTime } from './support/fake-time.ts'

function fixture() {
  const time = new FakeTime()
  const clock = time.clock(time.now)
  const told: string[] = []
  const alarms = new AlarmClock(clock)
  const retries = new DueRetries(clock, alarms, (gid) => told.push(gid))
  const add = (gid: string, dueAt: number, target: Target) => retries.add(gid as Gid, dueAt, target)
  return { time, alarms, told, add }
}

const BANK = new Target('http://bank.test', true)

describe('due retries', () => {
  it('Each is told of within a tenth of a second after it is due, and not before', async () => {
    const { time, told, add } = fixture()
    add('a', 1_020, BANK)
    add('b', 1_180, BANK)
    await time.advance(1_020)
    expect(told).toEqual([])
    await time.advance(81)
    expect(told).toEqual(['a'])
    await time.advance(100)
    expect(told).toEqual(['a', 'b'])
  })

  it('One that is due in more than a minute is not told of', async () => {
    const { time, alarms, told, add } = fixture()
    add('a', 60_001, BANK)
    expect(alarms.size).toBe(0)
    await time.advance(70_000)
    expect(told).toEqual([])
  })

  it('S40: Eight of each listed target are told of in a tenth of a second, and eight of all others together', async () => {
    const { time, alarms, told, add } = fixture()
    for (let n = 0; n < 20; n++) {
      add('bank', 950, BANK)
      add('shop', 950, new Target(`http://shop${n}.test`))
    }
    expect(alarms.size).toBe(1)
    await time.advance(1_001)
    expect(told.filter((gid) => gid === 'bank')).toHaveLength(8)
    expect(told.filter((gid) => gid === 'shop')).toHaveLength(8)
    add('bank', 1_950, BANK)
    await time.advance(1_000)
    expect(told).toHaveLength(17)
  })
})
