import { expect, it } from 'vitest'
import { countWithin } from './answer-bound.ts'

it('The bound of an answer counts the first rows that fit, and one at least', () => {
  expect(countWithin([], 10)).toBe(0)
  expect(countWithin([11], 10)).toBe(1)
  expect(countWithin([11, 1], 10)).toBe(1)
  expect(countWithin([4, 6], 10)).toBe(2)
  expect(countWithin([4, 6, 1, 0], 10)).toBe(2)
  expect(countWithin([0, 11, 1], 10)).toBe(1)
})
