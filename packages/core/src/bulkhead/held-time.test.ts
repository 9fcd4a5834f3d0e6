import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  countHeldTime,
  type HeldTime,
  heldBoundsOfTarget,
  heldBoundsOfUnlisted,
  mayHold,
  NOTHING_HELD,
  readHeldMs,
} from './held-time.ts'

const QUICK_MS = 2_000
const BOUNDS = heldBoundsOfTarget(QUICK_MS)
const UNLISTED = heldBoundsOfUnlisted(QUICK_MS)

function count(calls: readonly (readonly [startedAt: number, endedAt: number])[], bounds = BOUNDS): HeldTime {
  return calls.reduce(
    (held, [startedAt, endedAt]) => countHeldTime(held, { startedAt, endedAt }, bounds),
    NOTHING_HELD,
  )
}

describe('S40: the time that one target holds a function', () => {
  const ROWS: readonly (readonly [
    string,
    readonly (readonly [number, number])[],
    { readonly now: number; readonly heldMs: number; readonly mayHold: boolean },
  ])[] = [
    ['no call', [], { now: 0, heldMs: 0, mayHold: true }],
    ['a quick call', [[0, 1_000]], { now: 1_000, heldMs: 0, mayHold: true }],
    ['a call that is a little slow', [[0, 1_400]], { now: 1_400, heldMs: 400, mayHold: true }],
    ['a call that was cut', [[0, 2_000]], { now: 2_000, heldMs: 1_000, mayHold: false }],
    ['the same 24 s later', [[0, 2_000]], { now: 26_000, heldMs: 520, mayHold: false }],
    ['the same 25 s later', [[0, 2_000]], { now: 27_000, heldMs: 500, mayHold: true }],
    [
      'ten calls beside each other',
      Array.from({ length: 10 }, () => [0, 1_400] as const),
      { now: 1_400, heldMs: 400, mayHold: true },
    ],
    [
      'two slow calls one after the other',
      [
        [0, 1_300],
        [1_300, 2_600],
      ],
      { now: 2_600, heldMs: 574, mayHold: false },
    ],
    [
      'quick calls one after the other',
      Array.from({ length: 50 }, (_, n) => [n * 900, n * 900 + 900] as const),
      { now: 45_000, heldMs: 0, mayHold: true },
    ],
  ]
  for (const [name, calls, expected] of ROWS)
    it(`counts ${name}`, () => {
      const held = count(calls)
      expect({
        now: expected.now,
        heldMs: readHeldMs(held, expected.now, BOUNDS),
        mayHold: mayHold(held, expected.now, BOUNDS),
      }).toEqual(expected)
    })

  it('is a small part of all time, however a target that hangs is called', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 40_000 }), { minLength: 20, maxLength: 60 }), (pauses) => {
        let held = NOTHING_HELD
        let [now, heldMs] = [0, 0]
        for (const pause of pauses) {
          now += pause
          if (!mayHold(held, now, BOUNDS)) continue
          held = countHeldTime(held, { startedAt: now, endedAt: now + QUICK_MS }, BOUNDS)
          now += QUICK_MS
          heldMs += QUICK_MS
        }
        // Two of the calls come before anything is known and forgotten.
        expect(heldMs).toBeLessThanOrEqual(2 * QUICK_MS + now * 2 * BOUNDS.forgottenPart)
      }),
    )
  })

  it('allows a few targets that the configuration does not name, and not many', () => {
    const cut = (n: number) =>
      count(
        Array.from({ length: n }, (_, i) => [i * 2_000, i * 2_000 + 2_000]),
        UNLISTED,
      )
    expect([1, 2, 3, 4].map((n) => mayHold(cut(n), n * 2_000, UNLISTED))).toEqual([true, true, false, false])
  })
})
