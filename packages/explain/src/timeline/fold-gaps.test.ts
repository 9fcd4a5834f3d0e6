import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseStep, chooseTicks } from './axis.ts'
import { foldGaps, toShare } from './fold-gaps.ts'

const HOUR_MS = 3_600_000

describe('foldGaps', () => {
  it('Calls of milliseconds stay to scale', () => {
    const pieces = foldGaps([0, 10, 30, 40])
    expect(pieces.some(({ isFolded }) => isFolded)).toBe(false)
    expect(toShare(pieces, 10)).toBeCloseTo(0.25)
    expect(toShare(pieces, 20)).toBeCloseTo(0.5)
  })

  it('A wait of an hour does not push the calls before it together', () => {
    const pieces = foldGaps([0, 12, 20, HOUR_MS, HOUR_MS + 5])
    expect(pieces.map(({ isFolded }) => isFolded)).toEqual([false, false, true, false])
    expect(toShare(pieces, 20)).toBeGreaterThan(0.6)
  })

  it('The pieces cover the width in order, whatever the instants are', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(10 ** 9), { minLength: 2, maxLength: 60 }), (instants) => {
        const pieces = foldGaps(instants)
        let end = 0
        for (const { left, right } of pieces) {
          expect(left).toBe(end)
          expect(right).toBeGreaterThan(left)
          end = right
        }
        if (pieces.length > 0) expect(end).toBeCloseTo(1)
        for (const at of instants) {
          expect(toShare(pieces, at)).toBeGreaterThanOrEqual(0)
          expect(toShare(pieces, at)).toBeLessThanOrEqual(1.000_001)
        }
      }),
    )
  })

  it('One instant has no width, and is drawn at the left', () => {
    expect(foldGaps([5, 5])).toEqual([])
    expect(toShare([], 5)).toBe(0)
  })
})

describe('the axis', () => {
  it('Steps are round', () => {
    expect([chooseStep(40, 6), chooseStep(61, 6), chooseStep(9_000, 6)]).toEqual([10, 20, 2_000])
    expect(chooseStep(0, 6)).toBe(1)
  })

  it('Ticks are round distances from the start, and a fold says how long it is', () => {
    const ticks = chooseTicks(foldGaps([1_000, 1_012, 1_020, 1_000 + HOUR_MS]), { turnedAt: 1_020 })
    expect(ticks.map(({ label }) => label)).toEqual(['0', '+5 ms', '+10 ms', '+15 ms', '↺ turned around'])
    expect(chooseTicks(foldGaps([0, 10, 20, HOUR_MS])).map(({ label }) => label)).toContain('59 min')
  })

  it('Labels do not touch each other', () => {
    const shares = chooseTicks(foldGaps([0, 3, 7, 90, 100]), { isNarrow: true }).map(({ share }) => share)
    shares.slice(1).forEach((share, index) => {
      expect(share - (shares[index] ?? 0)).toBeGreaterThanOrEqual(0.24)
    })
  })
})
