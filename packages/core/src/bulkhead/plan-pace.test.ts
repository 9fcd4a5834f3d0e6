import { describe, expect, it } from 'vitest'
import { computePlanRestMs, countPlanTurnPlaces } from './plan-pace.ts'

const SHORT = 4 * 1024
const LARGE = 100_000

describe('the pace of plans', () => {
  it.each<[string, number, number, boolean, boolean, number]>([
    ['a short one is read at once', SHORT, 1, false, false, 0],
    ['a short one is read at once, though others rest', SHORT, 1, true, false, 0],
    ['a longer one of one place takes no turn', SHORT + 1, 1, false, false, 1],
    ['a large one takes a turn', LARGE, 4, false, false, 4],
    ['a large one that has waited is read', LARGE, 4, false, true, 0],
    ['a longer one of one place waits for the end of a rest', SHORT + 1, 1, true, false, 2],
    ['a large one that has waited waits for the end of a rest', LARGE, 4, true, true, 4],
  ])('S40: %s', (_, characters, places, isResting, hasWaited, expected) => {
    expect(countPlanTurnPlaces({ characters, places, isResting, hasWaited })).toBe(expected)
  })

  it.each<[string, number, number, number]>([
    ['a short one', SHORT, 100, 0],
    ['a large one that was read fast', LARGE, 0.5, 0],
    ['one that took 80 ms', SHORT + 1, 80, 720],
    ['one at which the process was stopped', LARGE, 60_000, 2_000],
  ])('S40: The rest after %s', (_, characters, tookMs, expected) => {
    expect(computePlanRestMs(characters, tookMs)).toBe(expected)
  })
})
