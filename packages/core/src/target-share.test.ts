import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { table } from '../test/table.ts'
import {
  boundsUnderWay,
  COME_BACK_MS_MAX,
  HELD_BACK_MS_MAX,
  holdBack,
  mayTakePlace,
  nextTurnAt,
  PACE_AHEAD_MS,
  paceWaitMs,
  type ShareBounds,
  shareBounds,
  TARGETS_MAX,
  waitForRoomMs,
} from './target-share.ts'

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

describe('S40: what found no room is left to the store', () => {
  const HANGING = { comeBackAt: 0, now: 5_000, holdMs: 1_000, leastMs: 0, isBusy: false }

  it('for a time that is drawn, longer than holdMs, and at least as long as its pace asks for', () => {
    const waitOf = (jitter01: number, leastMs = 0) => holdBack({ ...HANGING, jitter01, leastMs }).waitMs
    expect([waitOf(0), waitOf(0.999_999), waitOf(0.5, 60_000)]).toEqual([16_010, 31_010, 61_010])
  })

  it('for a moment where its target is only busy', () => {
    const waitOf = (jitter01: number) => holdBack({ ...HANGING, isBusy: true, jitter01 }).waitMs
    expect([waitOf(0), waitOf(0.999_999)]).toEqual([1_060, 1_510])
  })

  function waitsOf(count: number, isBusy: boolean): readonly number[] {
    let comeBackAt = 0
    return Array.from({ length: count }, (_, n) => {
      const held = holdBack({ ...HANGING, comeBackAt, isBusy, jitter01: (n % 1_000) / 1_000 })
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
    for (const isBusy of [true, false]) expect(mostInASecond(waitsOf(1_000, isBusy))).toBeLessThanOrEqual(150)
    const many = waitsOf(100_000, false)
    expect(Math.max(...many)).toBeLessThan(HELD_BACK_MS_MAX + COME_BACK_MS_MAX + 2_000)
    expect(mostInASecond(many)).toBeLessThan(600)
  })
})

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
