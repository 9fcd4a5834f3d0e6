import { expect, it } from 'vitest'
import { newCounters, vacuous } from '../src/index.ts'

const SEEDS = 2_000

it('a run in which nothing happened proves nothing', () => {
  const reasons = vacuous(newCounters(), SEEDS)
  expect(reasons).toContain('fencedWrites is 0, less than 100')
  expect(reasons).toContain('rested is 0, less than 1')
})

it('a run whose kills hit idle nodes proves nothing', () => {
  const busy = Object.fromEntries(Object.keys(newCounters()).map((name) => [name, 10_000]))
  const counters = { ...newCounters(), ...busy }
  expect(vacuous(counters, SEEDS)).toEqual([])
  expect(vacuous({ ...counters, crashesInFlight: 7_999 }, SEEDS)).toEqual([
    'only 7999 of 10000 kills hit work',
  ])
})

it('a few seeds may miss something by chance', () => {
  expect(vacuous(newCounters(), 1_999)).toEqual([])
})
