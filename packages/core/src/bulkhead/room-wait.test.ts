import { describe, expect, it } from 'vitest'
import { table } from '../../test/table.ts'
import { roomWaitersMax, waitForRoomMs } from './room-wait.ts'
import { shareBounds } from './target-share.ts'

describe('S40: what finds no place waits', () => {
  for (const { title, cells } of table`
    answered ago  waited  jitter  → wait
    0             0       0       → 50
    1999          2999    0.999   → 100
    1999          0       0.5     → 75
    2000          0       0       → given back
    Infinity      0       0.5     → given back
    0             3000    0       → given back
  `) {
    it(`${title} ms`, () => {
      const wait = { answeredMs: Number(cells['answered ago']), waitedMs: Number(cells.waited) }
      expect(String(waitForRoomMs(wait, Number(cells.jitter)) ?? 'given back')).toBe(cells.wait)
    })
  }
})

describe('S40: those that wait in memory for room', () => {
  it('have an eighth of the places, less than what is reserved of them', () => {
    expect([4_096, 1_024, 8, 7, 1].map(roomWaitersMax)).toEqual([512, 128, 1, 1, 1])
    for (const places of [4_096, 1_024, 100]) {
      const { reserved } = shareBounds(places, 0.5)
      expect(roomWaitersMax(places)).toBeLessThanOrEqual(reserved / 2)
    }
  })
})
