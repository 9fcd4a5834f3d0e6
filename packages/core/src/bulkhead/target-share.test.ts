import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { table } from '../../test/table.ts'
import {
  mayTakePlace,
  mayTakeUnlistedPlace,
  SHARED_TARGETS,
  type ShareBounds,
  shareBounds,
  toBoundsUnderWay,
  UNLISTED_TARGETS_MAX,
} from './target-share.ts'

describe('S40: the share of a target', () => {
  for (const { title, cells } of table`
    places  held   free   share  → may take
    4096    0      4096   0.5    → yes
    4096    1535   2561   0.5    → yes
    4096    1536   2560   0.5    → no
    4096    7      1      0.5    → yes
    4096    8      1024   0.5    → no
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
      const held = Number(cells.held)
      const may = mayTakeUnlistedPlace(held, held, Number(cells.free), bounds)
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
    expect(fillInTurn(4_096, 12, { ...shareBounds(4_096, 0.5), reserved: 0, guaranteedUnlisted: 0 })).toBe(1)
  })

  it('is larger for what is under way, and off where the rule is off', () => {
    expect([0.5, 0.2, 1].map((share) => toBoundsUnderWay(shareBounds(4_096, share)).share)).toEqual([
      0.75, 0.6, 1,
    ])
    expect(fillTogether(4_096, 3, toBoundsUnderWay(shareBounds(4_096, 0.5)))).toBeGreaterThan(1_024)
  })

  for (const { title, cells } of table`
    places  listed  share  → each listed  each other
    4096    0       0.5    → -            8
    4096    10      0.5    → 51           4
    4096    128     0.5    → 4            4
    4096    1       0.5    → 512          4
    4096    1       0.05   → 153          4
    1024    0       0.5    → -            2
    1024    10      0.5    → 12           1
    1024    500     0.5    → 1            1
    100     0       0.5    → -            1
    100     3       0.5    → 4            0
  `) {
    it(`guarantees places: ${title}`, () => {
      const listed = Number(cells.listed)
      const bounds = shareBounds(Number(cells.places), Number(cells.share), listed)
      expect(listed === 0 ? '-' : String(bounds.guaranteed)).toBe(cells['each listed'])
      expect(String(bounds.guaranteedUnlisted)).toBe(cells['each other'])
    })
  }

  for (const { title, cells } of table`
    held  unlisted  free  listed  → may take
    1535  1535      2561  0       → yes
    1023  1023      3073  1       → yes
    1024  1024      3072  1       → no
    201   1435      2661  1       → yes
    202   1435      2661  1       → no
    4     1536      2560  1       → no
    3     3000      1     1       → yes
    3     3000      0     1       → no
  `) {
    it(`of one that is not listed is a part of what all of these may have: ${title}`, () => {
      const bounds = shareBounds(4_096, 0.5, Number(cells.listed))
      const may = mayTakeUnlistedPlace(Number(cells.held), Number(cells.unlisted), Number(cells.free), bounds)
      expect(may ? 'yes' : 'no').toBe(cells['may take'])
    })
  }

  it('of a listed target stays in the hundreds while all counters of others are full, at once or in turn', () => {
    for (const bounds of [shareBounds(4_096, 0.5, 3), toBoundsUnderWay(shareBounds(4_096, 0.5, 3))]) {
      for (const free of [fillTogether(4_096, 128, bounds), fillInTurn(4_096, 128, bounds)]) {
        let held = 0
        while (mayTakePlace(held, free - held, bounds)) held++
        expect(held).toBeGreaterThan(150)
      }
    }
  })

  it('S40: mutant: without a bound for those together they leave a listed target hardly more than its guaranteed places', () => {
    const bounds = { ...shareBounds(4_096, 0.5, 3), guaranteed: 4, boundsUnlisted: false }
    const free = fillTogether(4_096, 128, bounds)
    let held = 0
    while (mayTakePlace(held, free - held, bounds)) held++
    expect(held).toBeLessThan(50)
  })

  it('never keeps a target from its guaranteed places, whatever the others take', () => {
    const all = UNLISTED_TARGETS_MAX + SHARED_TARGETS
    const takes = fc.array(fc.nat({ max: all + 9 }), { maxLength: 3_000 })
    fc.assert(
      fc.property(
        takes,
        fc.integer({ min: 1_200, max: 2_400 }),
        fc.constantFrom(0, 10),
        (wanted, places, listed) => {
          const bounds = shareBounds(places, 0.5, listed)
          const held = Array<number>(all + listed).fill(0)
          let [free, heldUnlisted] = [places, 0]
          for (const target of wanted) {
            const before = held[target]
            if (before === undefined) continue
            const isListed = target >= all
            const may = isListed
              ? mayTakePlace(before, free, bounds)
              : mayTakeUnlistedPlace(before, heldUnlisted, free, bounds)
            if (before < (isListed ? bounds.guaranteed : bounds.guaranteedUnlisted)) expect(may).toBe(true)
            if (!may) continue
            held[target] = before + 1
            free--
            if (!isListed) heldUnlisted++
          }
        },
      ),
    )
  })
})

/** All targets take places in turns, until none may. */
function fillTogether(places: number, targets: number, bounds: ShareBounds): number {
  const held = Array<number>(targets).fill(0)
  let free = places
  for (let hasTaken = true; hasTaken; ) {
    hasTaken = false
    for (let target = 0; target < targets; target++) {
      if (!mayTakeUnlistedPlace(held[target] ?? 0, places - free, free, bounds)) continue
      held[target] = (held[target] ?? 0) + 1
      free--
      hasTaken = true
    }
  }
  return free
}

/** Each target takes all the places that it may before the next begins. */
function fillInTurn(places: number, targets: number, bounds: ShareBounds): number {
  let free = places
  for (let target = 0; target < targets; target++) {
    for (let held = 0; mayTakeUnlistedPlace(held, places - free, free, bounds); held++) free--
  }
  return free
}
