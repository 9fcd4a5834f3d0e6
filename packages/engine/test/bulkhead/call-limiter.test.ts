import { shareBounds } from '@counterstep/core'
import { describe, expect, it } from 'vitest'
import { AlarmClock } from '../../src/alarm-clock.ts'
import { CallLimiter, TURN_WAIT_MS } from '../../src/bulkhead/call-limiter.ts'
import { Target } from '../../src/bulkhead/target.ts'
import { FakeTime } from '../support/fake-time.ts'

function openLimiter(max: number, share: number) {
  const time = new FakeTime()
  const clock = time.clock()
  const alarms = new AlarmClock(clock)
  const limiter = new CallLimiter({
    name: 'freshCalls',
    bounds: shareBounds(max, share),
    now: () => clock.now(),
    ringAt: (at, callback) => alarms.ringAt(at, callback),
  })
  const log: string[] = []
  /** The call leaves the limiter by itself only when it is told to. */
  const enter = async (target: Target, name: string) => {
    const hasTurn = (await limiter.enter(target)) ?? true
    log.push(hasTurn ? name : `no turn: ${name}`)
  }
  return { time, limiter, log, enter }
}

describe('a limiter of calls', () => {
  it('lets at most so many go, and the others in the order they came', async () => {
    const { time, limiter, log, enter } = openLimiter(2, 1)
    const target = new Target('a')
    for (const name of ['1', '2', '3', '4']) void enter(target, name)
    await time.flush()
    expect(log).toEqual(['1', '2'])
    limiter.leave(target)
    await time.flush()
    expect(log).toEqual(['1', '2', '3'])
    for (const _ of '123') limiter.leave(target)
    await time.flush()
    expect([log, limiter.used, target.waiting]).toEqual([['1', '2', '3', '4'], 0, 0])
  })

  it('S40: holds back a target at its share, and no other target behind it', async () => {
    const { time, limiter, log, enter } = openLimiter(8, 0.5)
    const [hanging, healthy] = [new Target('hanging'), new Target('healthy')]
    for (let n = 0; n < 20; n++) void enter(hanging, `h${n}`)
    await time.flush()
    expect(log).toEqual(['h0', 'h1', 'h2'])
    for (let n = 0; n < 3; n++) {
      void enter(healthy, 'ok')
      await time.flush()
      limiter.leave(healthy)
    }
    await time.flush()
    expect(log.filter((name) => name === 'ok')).toHaveLength(3)
    expect([limiter.used, hanging.waiting]).toEqual([3, 17])
  })

  it('S40: mutant: without a share those of the other target wait behind it', async () => {
    const { time, log, enter } = openLimiter(8, 1)
    const [hanging, healthy] = [new Target('hanging'), new Target('healthy')]
    for (let n = 0; n < 20; n++) void enter(hanging, `h${n}`)
    void enter(healthy, 'ok')
    await time.flush()
    expect(log).not.toContain('ok')
  })

  it('tells a call that has waited for too long that there is no turn, and keeps no place for it', async () => {
    const { time, limiter, log, enter } = openLimiter(1, 1)
    const target = new Target('a')
    void enter(target, '1')
    void enter(target, '2')
    await time.advance(TURN_WAIT_MS / 2)
    void enter(target, '3')
    await time.advance(TURN_WAIT_MS / 2 + 1_000)
    expect(log).toEqual(['1', 'no turn: 2'])
    limiter.leave(target)
    await time.flush()
    expect(log).toEqual(['1', 'no turn: 2', '3'])
    limiter.leave(target)
    expect([limiter.used, target.waiting, target.held]).toEqual([0, 0, [0, 0, 0, 0, 0, 0, 0]])
  })

  it('lets nothing wait once it is closed', async () => {
    const { time, limiter, log, enter } = openLimiter(1, 1)
    const target = new Target('a')
    void enter(target, '1')
    void enter(target, '2')
    limiter.close()
    void enter(target, '3')
    await time.flush()
    expect(log).toEqual(['1', 'no turn: 2', 'no turn: 3'])
  })
})
