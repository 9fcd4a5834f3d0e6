import { describe, expect, it } from 'vitest'
import { table } from '../../test/table.ts'
import { COME_BACK_MS_MAX, HELD_BACK_MS_MAX, holdBack } from './hold-back.ts'

describe('S40: what found no room is left to the store', () => {
  const HANGING = {
    comeBackAt: 0,
    now: 5_000,
    holdMs: 1_000,
    leastMs: 0,
    isBusy: false,
    roomEveryMs: undefined,
  }

  it('for a time that is drawn, longer than holdMs, and at least as long as its pace asks for', () => {
    const computeWait = (jitter01: number, leastMs = 0) => holdBack({ ...HANGING, jitter01, leastMs }).waitMs
    expect([computeWait(0), computeWait(0.999_999), computeWait(0.5, 60_000)]).toEqual([
      16_010, 31_010, 61_010,
    ])
  })

  it('for a moment where its target is only busy', () => {
    const computeWait = (jitter01: number) => holdBack({ ...HANGING, isBusy: true, jitter01 }).waitMs
    expect([computeWait(0), computeWait(0.999_999)]).toEqual([1_051, 1_501])
  })

  for (const { title, cells } of table`
    is       has room every  → apart
    hanging  -               → 10
    hanging  1               → 10
    busy     -               → 1
    busy     0.1             → 0.25
    busy     4               → 4
    busy     500             → 10
  `) {
    it(`comes back behind the one before it: ${title} ms`, () => {
      const every = cells['has room every']
      const roomEveryMs = every === '-' ? undefined : Number(every)
      const given = { ...HANGING, isBusy: cells.is === 'busy', roomEveryMs, jitter01: 0 }
      const first = holdBack(given)
      const second = holdBack({ ...given, comeBackAt: first.comeBackAt })
      expect(String(second.comeBackAt - first.comeBackAt)).toBe(cells.apart)
      expect(second.waitMs - first.waitMs).toBe(Math.floor(Number(cells.apart)))
    })
  }

  function listWaits(count: number, isBusy: boolean): readonly number[] {
    let comeBackAt = 0
    return Array.from({ length: count }, (_, n) => {
      const held = holdBack({
        ...HANGING,
        comeBackAt,
        isBusy,
        roomEveryMs: 10,
        jitter01: (n % 1_000) / 1_000,
      })
      comeBackAt = held.comeBackAt
      return held.waitMs
    })
  }

  function mostInASecond(waits: readonly number[]): number {
    const perSecond = new Map<number, number>()
    for (const wait of waits) {
      const second = Math.floor(wait / 1_000)
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1)
    }
    return Math.max(...perSecond.values())
  }

  it('one after the other, and where that takes too long, all within five minutes', () => {
    for (const isBusy of [true, false])
      expect(mostInASecond(listWaits(1_000, isBusy))).toBeLessThanOrEqual(150)
    const many = listWaits(100_000, false)
    expect(Math.max(...many)).toBeLessThan(HELD_BACK_MS_MAX + COME_BACK_MS_MAX + 2_000)
    expect(mostInASecond(many)).toBeLessThan(600)
  })
})
