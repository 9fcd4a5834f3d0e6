import { describe, expect, it } from 'vitest'
import { findChange, writeState } from '../../src/testing/state-change.ts'

const change = (before: unknown, after: unknown) =>
  findChange(writeState(before, 'g-1'), writeState(after, 'g-1'))

describe('a change of state', () => {
  for (const [before, after, text, isCountable] of [
    [1, 1, 'nothing', false],
    [{ a: 1, b: [2] }, { b: [2], a: 1 }, 'nothing', false],
    [undefined, null, 'nothing', false],
    [1000, 900, '-100', true],
    [0.1, 0.3, '+0.2', true],
    ['10.50', '9.75', '-0.75', true],
    ['-0.5', '0.5', '+1', true],
    [10n ** 30n, 10n ** 30n + 1n, '+1', true],
    [[], ['row'], '+1 in the list', true],
    [['a', 'b'], ['a'], '-1 in the list', true],
    [[{ cents: 5 }], [{ cents: 3 }], '0 cents -2', true],
    [{ cents: 5, rows: [] }, { cents: 3, rows: [1] }, 'cents -2, rows +1 in the list', true],
    [null, { status: 'booked' }, 'null → {"status":"booked"}', false],
    [
      { status: 'booked', seats: 3 },
      { status: 'free', seats: 4 },
      'seats +1, status "booked" → "free"',
      false,
    ],
    [{ cents: 5 }, { cents: null }, 'cents 5 → null', false],
    [true, false, 'true → false', false],
    [null, 'of g-1', 'null → "of <gid>"', false],
  ] as const) {
    it(`The change of state from ${JSON.stringify(String(before))} to ${JSON.stringify(String(after))} is told as "${text}"`, () => {
      expect(change(before, after)).toEqual({ text, isCountable })
    })
  }

  it('A function is refused as a state', () => {
    expect(() => writeState(() => 1, 'g')).toThrow(TypeError)
  })
})
