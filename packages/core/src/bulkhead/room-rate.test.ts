import { describe, expect, it } from 'vitest'
import { table } from '../../test/table.ts'
import { measureRoom, UNMEASURED } from './room-rate.ts'

describe('S40: how often a target has room again', () => {
  for (const { title, cells } of table`
    known  after  answers  → every
    -      0      0        → -
    -      249    500      → -
    -      250    500      → 0.5
    2      249    0        → 2
    2      250    0        → 250
    2      5000   50       → 100
    2      5001   5001     → -
  `) {
    it(`is measured over a quarter of a second to five seconds: ${title}`, () => {
      const everyMs = cells.known === '-' ? undefined : Number(cells.known)
      const before = { since: 7_000, answers: 40, everyMs }
      const after = measureRoom(before, 40 + Number(cells.answers), 7_000 + Number(cells.after))
      expect(String(after.everyMs ?? '-')).toBe(cells.every)
    })
  }

  it('is not known at first, whatever was answered before', () => {
    const first = measureRoom(UNMEASURED, 900, 60_000)
    expect(first).toEqual({ since: 60_000, answers: 900, everyMs: undefined })
    expect(measureRoom(first, 1_000, 61_000).everyMs).toBe(10)
  })
})
