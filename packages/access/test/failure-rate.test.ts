import { expect, it } from 'vitest'
import { ADDRESSES_MAX, FailureRate } from '../src/failure-rate.ts'

it('S17: The table of addresses does not grow over its size, and those beyond it share one bound', () => {
  const rate = new FailureRate()
  for (let address = 0; address < ADDRESSES_MAX + 500; address += 1) rate.countFailure(`a${address}`, 1_000)
  expect(rate.size).toBeLessThanOrEqual(ADDRESSES_MAX + 1)
  expect(rate.countFailure('one more', 1_500)).toBe(true)
  expect(rate.countFailure('a1', 1_500)).toBe(false)
  expect(rate.countFailure('one more', 2_000)).toBe(false)
  expect(rate.size).toBe(1)
})
