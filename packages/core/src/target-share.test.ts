import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { table } from '../test/table.ts'
import { boundsUnderWay, mayTakePlace, type ShareBounds, shareBounds, TARGETS_MAX } from './target-share.ts'

describe('S40: the share of a target', () => {
  for (const { title, cells } of table`
    places  held   free   share  → may take
    4096    0      4096   0.5    → yes
    4096    1535   2561   0.5    → yes
    4096    1536   2560   0.5    → no
    4096    6      1      0.5    → yes
    4096    7      1024   0.5    → no
    4096    0      0      0.5    → no
    4096    4095   1      1      → yes
    4096    4096   0      1      → no
    3       0      3      0.5    → yes
    3       1      2      0.5    → yes
    3       2      1      0.5    → no
    1       0      1      0.5    → yes
    100     0      1      0.05   → yes
    100     3      97     0.05   → yes
    100     4      96     0.05   → no
  `) {
    it(`is right: ${title}`, () => {
      const bounds = shareBounds(Number(cells.places), Number(cells.share))
      const may = mayTakePlace(Number(cells.held), Number(cells.free), bounds)
      expect(may ? 'yes' : 'no').toBe(cells['may take'])
    })
  }

  it('leaves one part in k + 1 of what is not reserved when k targets hang at the same time', () => {
    for (const hanging of [1, 2, 3, 10, 50]) {
      const free = fillTogether(4_096, hanging, shareBounds(4_096, 0.5))
      expect(free - 1_024).toBeGreaterThanOrEqual(Math.floor(3_072 / (hanging + 1)) - hanging)
    }
  })

  it('keeps the reserved places from targets that hang one after the other', () => {
    expect(fillInTurn(4_096, 3, shareBounds(4_096, 0.5))).toBe(1_408)
    expect(fillInTurn(4_096, 60, shareBounds(4_096, 0.5))).toBeGreaterThanOrEqual(512)
  })

  it('S40: mutant: without the rule one target takes all', () => {
    expect(fillTogether(4_096, 1, shareBounds(4_096, 1))).toBe(0)
  })

  it('S40: mutant: without reserved places a dozen targets that hang in turn take nearly all', () => {
    expect(fillInTurn(4_096, 12, { share: 0.5, reserved: 0, guaranteed: 0 })).toBe(1)
  })

  it('is larger for what is under way, and off where the rule is off', () => {
    expect([0.5, 0.2, 1].map((share) => boundsUnderWay(shareBounds(4_096, share)).share)).toEqual([
      0.75, 0.6, 1,
    ])
    expect(fillTogether(4_096, 3, boundsUnderWay(shareBounds(4_096, 0.5)))).toBeGreaterThan(1_024)
  })

  it('never keeps a target from its guaranteed places, whatever the others take', () => {
    const takes = fc.array(fc.nat({ max: TARGETS_MAX }), { maxLength: 3_000 })
    fc.assert(
      fc.property(takes, fc.integer({ min: 1_024, max: 2_048 }), (wanted, places) => {
        const bounds = shareBounds(places, 0.5)
        const held = Array<number>(TARGETS_MAX + 1).fill(0)
        let free = places
        for (const target of wanted) {
          const before = held[target] ?? 0
          const may = mayTakePlace(before, free, bounds)
          if (before < bounds.guaranteed) expect(may).toBe(true)
          if (!may) continue
          held[target] = before + 1
          free--
        }
      }),
    )
  })
})

/** All take in turns, until none may. */
function fillTogether(places: number, targets: number, bounds: ShareBounds): number {
  const held = Array<number>(targets).fill(0)
  let free = places
  for (let hasTaken = true; hasTaken; ) {
    hasTaken = false
    for (let target = 0; target < targets; target++) {
      if (!mayTakePlace(held[target] ?? 0, free, bounds)) continue
      held[target] = (held[target] ?? 0) + 1
      free--
      hasTaken = true
    }
  }
  return free
}

/** Each takes all that it may before the next begins. */
function fillInTurn(places: number, targets: number, bounds: ShareBounds): number {
  let free = places
  for (let target = 0; target < targets; target++) {
    for (let held = 0; mayTakePlace(held, free, bounds); held++) free--
  }
  return free
}
