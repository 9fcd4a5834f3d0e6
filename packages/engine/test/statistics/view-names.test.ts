import { expect, it } from 'vitest'
import { WHOLE } from '../../src/statistics/node-statistics.ts'
import { findNameFigures, viewAllNames, viewNames } from '../../src/statistics/view-names.ts'
import { buildPart, MINUTE } from './support.ts'

const parts = [
  buildPart({ key: 'transfer', part: WHOLE, counts: [10, 7, 1, 0], durationMs: 32 }),
  buildPart({ key: 'transfer', part: WHOLE, counts: [5, 5, 0, 0], durationMs: 64, minute: MINUTE - 1 }),
  buildPart({ key: '-', part: WHOLE, counts: [40, 40, 0, 0], durationMs: 2 }),
  buildPart({ key: 'payout', part: WHOLE, counts: [3, 0, 0, 1], durationMs: 1_024 }),
  buildPart({ key: 'new', part: WHOLE, counts: [2, 0, 0, 0] }),
]

it('The names are shown by how many were accepted, each with its minutes, the oldest first', () => {
  const views = viewNames(parts)
  expect(views.map(({ name }) => name)).toEqual(['-', 'transfer', 'payout', 'new'])
  expect(views[1]?.minutes).toEqual([
    { at: (MINUTE - 1) * 60_000, accepted: 5, succeeded: 5, failed: 0, stopped: 0 },
    { at: MINUTE * 60_000, accepted: 10, succeeded: 7, failed: 1, stopped: 0 },
  ])
})

it('All names together have the sums of all', () => {
  const { minutes, latency } = viewAllNames(parts)
  expect(minutes).toEqual([
    { at: (MINUTE - 1) * 60_000, accepted: 5, succeeded: 5, failed: 0, stopped: 0 },
    { at: MINUTE * 60_000, accepted: 55, succeeded: 47, failed: 1, stopped: 1 },
  ])
  expect(latency.p50Ms).toBeLessThanOrEqual(2)
})

it('The slowest and the most failed names are those that have ended, or failed', () => {
  const { slowestNames, mostFailedNames } = findNameFigures(parts)
  expect(slowestNames.map(({ name }) => name)).toEqual(['payout', 'transfer', '-'])
  expect(mostFailedNames).toMatchObject([{ name: 'transfer', ended: 13, failed: 1 }])
})
