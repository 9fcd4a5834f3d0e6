import { expect, it } from 'vitest'
import { formatNext } from './instants.ts'

it('The next call is in a while, or now', () => {
  expect(formatNext(41_000)).toBe('next in 00:41')
  expect(formatNext(1)).toBe('next in 00:01')
  expect(formatNext(0)).toBe('now')
  expect(formatNext(-5_000)).toBe('now')
})
