import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextTurnAt, PACE_AHEAD_MS, paceWaitMs } from './target-pace.ts'

describe('S40: the pace of a target', () => {
  it('lets at most so many calls a second go, after a few at once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), fc.array(fc.nat({ max: 50 })), (perSecond, gaps) => {
        let turnAt = 0
        let now = 1_000
        const sentAt: number[] = []
        for (const gap of gaps) {
          now += gap
          const at = now + paceWaitMs(turnAt, now)
          turnAt = nextTurnAt(turnAt, now, perSecond)
          sentAt.push(at)
        }
        for (const from of sentAt) {
          const within = sentAt.filter((at) => at >= from && at < from + 1_000).length
          expect(within).toBeLessThanOrEqual(Math.ceil((perSecond * (1_000 + PACE_AHEAD_MS)) / 1_000) + 1)
        }
      }),
    )
  })

  it('does not save up what was not used', () => {
    expect(paceWaitMs(0, 1_000_000)).toBe(0)
    expect(nextTurnAt(0, 1_000_000, 10)).toBe(1_000_100)
  })
})
