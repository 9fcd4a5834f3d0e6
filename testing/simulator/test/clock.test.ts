import { expect, it } from 'vitest'
import { SimClock } from '../src/world/clock.ts'

it('A clock drifts, jumps and gets the right rate again', () => {
  const world = { now: 0 }
  const clock = new SimClock(world, 1_000, 0.5)
  world.now = 100
  expect(clock.now()).toBe(1_050)
  expect(clock.worldMs(10)).toBe(20)
  clock.jump(-50)
  expect(clock.now()).toBe(1_000)
  clock.straighten()
  world.now = 200
  expect(clock.now()).toBe(1_100)
  expect(clock.worldMs(10)).toBe(10)
})
