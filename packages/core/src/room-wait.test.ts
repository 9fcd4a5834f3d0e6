import { describe, expect, it } from 'vitest'
import { table } from '../test/table.ts'
import { waitForRoomMs } from './room-wait.ts'

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
