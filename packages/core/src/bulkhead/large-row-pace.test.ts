import { describe, expect, it } from 'vitest'
import { COME_BACK_MS_MAX } from './hold-back.ts'
import { takeLargeRowTurn } from './large-row-pace.ts'

/** Takes turns for rows of these sizes, all at one instant. Returns how long each waits. */
function listWaits(places: readonly number[]): readonly number[] {
  const now = 7_000
  let nextAt = 0
  return places.map((each) => {
    const turn = takeLargeRowTurn({ nextAt, now, places: each })
    nextAt = turn?.nextAt ?? nextAt
    return (turn?.at ?? now) - now
  })
}

describe('the pace of large rows', () => {
  it('S40: Large rows come back one after the other, the farther apart the larger they are', () => {
    expect(listWaits([33, 33, 2, 33])).toEqual([0, 165, 330, 340])
  })

  it('S40: A row of one place waits for no large row', () => {
    expect(listWaits([33, 1, 1, 33])).toEqual([0, 0, 0, 165])
  })

  it('A large row waits for five minutes at most, however many there are', () => {
    expect(Math.max(...listWaits(Array(10_000).fill(33)))).toBe(COME_BACK_MS_MAX)
  })

  it('Turns that no row takes are not saved up', () => {
    expect(takeLargeRowTurn({ nextAt: 0, now: 1_000_000, places: 4 })).toEqual({
      at: 1_000_000,
      nextAt: 1_000_020,
    })
  })
})
