import { expect, it } from 'vitest'
import { MinuteRing } from '../../src/statistics/minute-ring.ts'

it('Each minute has counts of its own, and an hour later they begin at 0', () => {
  const ring = new MinuteRing(2)
  ring.increment(100, 0)
  ring.incrementBoth(100, 0, 1)
  ring.increment(101, 1)
  expect([...(ring.row(100) ?? [])]).toEqual([2, 1])
  expect([...(ring.row(101) ?? [])]).toEqual([0, 1])
  expect(ring.row(102)).toBeUndefined()
  ring.increment(160, 0)
  expect(ring.row(100)).toBeUndefined()
  expect([...(ring.row(160) ?? [])]).toEqual([1, 0])
})

it.each([
  [5, 104, [1, 0]],
  [5, 105, [0, 0]],
  [60, 159, [1, 0]],
  [60, 160, [0, 0]],
])('The sum of %d minutes at minute %d', (minutes, minute, sum) => {
  const ring = new MinuteRing(2)
  ring.increment(100, 0)
  expect(ring.sum(minute, minutes)).toEqual(sum)
})

it('A ring is idle when nothing was counted for an hour', () => {
  const ring = new MinuteRing(1)
  expect(ring.isIdle(100)).toBe(true)
  ring.increment(100, 0)
  expect(ring.isIdle(159)).toBe(false)
  expect(ring.isIdle(160)).toBe(true)
})

it('A sum has what was counted since it was last asked for, and in a later minute what was counted then', () => {
  const ring = new MinuteRing(1)
  ring.increment(100, 0)
  expect(ring.sum(101, 5)).toEqual([1])
  ring.increment(101, 0)
  expect(ring.sum(101, 5)).toEqual([2])
  expect(ring.sum(101, 1)).toEqual([1])
  ring.increment(102, 0)
  expect(ring.sum(102, 5)).toEqual([3])
  expect(ring.sum(105, 5)).toEqual([2])
})

it('The minutes of the last hour are listed, the oldest first, without those in which nothing was counted', () => {
  const ring = new MinuteRing(3)
  ring.increment(100, 0)
  ring.incrementBoth(130, 1, 2)
  expect(ring.list(130, 2)).toEqual([
    [100, [1, 0]],
    [130, [0, 1]],
  ])
  ring.increment(130, 1)
  expect(ring.list(130, 2)[1]).toEqual([130, [0, 2]])
  expect(ring.list(159, 2)).toHaveLength(2)
  expect(ring.list(160, 2)).toEqual([[130, [0, 2]]])
})
