import { expect, it } from 'vitest'
import { newCounters, vacuous } from '../src/index.ts'

const SEEDS = 2_000

it('A run without faults proves nothing', () => {
  const reasons = vacuous(newCounters(), SEEDS)
  expect(reasons).toContain('fencedWrites is 0, less than 100')
  expect(reasons).toContain('rested is 0, less than 1')
})

it('A run whose kills hit idle nodes proves nothing', () => {
  const busy = Object.fromEntries(Object.keys(newCounters()).map((name) => [name, 10_000]))
  const counters = { ...newCounters(), ...busy }
  expect(vacuous(counters, SEEDS)).toEqual([])
  expect(vacuous({ ...counters, crashesInFlight: 7_999 }, SEEDS)).toEqual([
    'only 7999 of 10000 kills hit work',
  ])
})

it('A run of few seeds is not judged', () => {
  expect(vacuous(newCounters(), 1_999)).toEqual([])
})
