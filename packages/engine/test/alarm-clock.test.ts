import { describe, expect, it } from 'vitest'
import { AlarmClock } from '../src/alarm-clock.ts'
import { FakeTime } from './support/fake-time.ts'

function fixture() {
  const time = new FakeTime()
  const clock = time.clock(time.now)
  return { time, clock, alarms: new AlarmClock(clock), rung: [] as string[] }
}

describe('an alarm clock', () => {
  it('Alarms ring in the order of their instants, with one timer', async () => {
    const { time, clock, alarms, rung } = fixture()
    for (const at of [30, 10, 20, 10]) alarms.ringAt(at, () => rung.push(`${at} at ${clock.now()}`))
    expect([alarms.size, clock.timers]).toEqual([4, 1])
    await time.advance(9)
    expect(rung).toEqual([])
    await time.advance(100)
    expect(rung).toEqual(['10 at 10', '10 at 10', '20 at 20', '30 at 30'])
    expect([alarms.size, clock.timers]).toEqual([0, 0])
  })

  it('An alarm rings no fraction of a millisecond early', async () => {
    const { time, clock, alarms, rung } = fixture()
    for (const at of [10.6, 10.4]) alarms.ringAt(at, () => rung.push(`${at} at ${clock.now()}`))
    await time.advance(10)
    expect(rung).toEqual([])
    await time.advance(1)
    expect(rung).toEqual(['10.6 at 11', '10.4 at 11'])
  })

  it('An alarm that is already due rings soon, but not at once', async () => {
    const { time, alarms, rung } = fixture()
    alarms.ringAt(-5, () => rung.push('late'))
    expect(rung).toEqual([])
    await time.advance(0)
    expect(rung).toEqual(['late'])
  })

  it('An alarm may be set while another rings', async () => {
    const { time, clock, alarms, rung } = fixture()
    alarms.ringAt(10, () => {
      alarms.ringAt(15, () => rung.push(`next at ${clock.now()}`))
      alarms.ringAt(10, () => rung.push(`now at ${clock.now()}`))
    })
    await time.advance(20)
    expect(rung).toEqual(['now at 10', 'next at 15'])
  })

  it('S40: Alarms of one instant that take long are spread over turns, in their order', () => {
    let now = 0
    const planned: (() => void)[] = []
    const clock = {
      now: () => now,
      after: (_ms: number, run: () => void) => {
        planned.push(run)
        return () => planned.splice(planned.indexOf(run), 1)
      },
    }
    const alarms = new AlarmClock(clock)
    const rung: number[] = []
    for (let alarm = 0; alarm < 7; alarm++)
      alarms.ringAt(10, () => {
        rung.push(alarm)
        now += 2
      })
    now = 10
    const turns: (readonly number[])[] = []
    while (planned.length > 0) {
      planned.shift()?.()
      turns.push(rung.splice(0))
    }
    // Each takes 2 ms, so the third one takes a turn of 5 ms over its end.
    expect(turns).toEqual([[0, 1, 2], [3, 4, 5], [6]])
    expect(alarms.size).toBe(0)
  })

  it('No alarm rings after the clock was stopped', async () => {
    const { time, clock, alarms, rung } = fixture()
    alarms.ringAt(10, () => rung.push('never'))
    alarms.stop()
    alarms.ringAt(5, () => rung.push('never'))
    await time.advance(100)
    expect([rung, clock.timers]).toEqual([[], 0])
  })

  it('A clock that one of its alarms stopped sets no timer again', async () => {
    const { time, clock, alarms } = fixture()
    alarms.ringAt(10, () => alarms.stop())
    alarms.ringAt(20, () => undefined)
    await time.advance(10)
    expect(clock.timers).toBe(0)
  })
})
