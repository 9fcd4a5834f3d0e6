import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DeadlineWheel, type WheelEntry } from '../src/deadline-wheel.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function entry(expire: () => void): WheelEntry {
  return { deadlineAt: 0, wheelSlot: -1, wheelPlace: 0, expire }
}

describe('the deadline wheel', () => {
  it('The deadline wheel expires each entry once, never early and at most a tick late', () => {
    const wheel = new DeadlineWheel(25)
    const late: number[] = []
    const delays = [1, 24, 25, 26, 100, 999, 10_000, 25_599, 25_600, 25_601, 60_000, 900_000]
    for (const delayMs of delays) {
      const at = performance.now() + delayMs
      wheel.add(
        entry(() => late.push(performance.now() - at)),
        performance.now(),
        delayMs,
      )
    }
    vi.advanceTimersByTime(1_000_000)
    expect(late).toHaveLength(delays.length)
    for (const lateMs of late) {
      expect(lateMs).toBeGreaterThanOrEqual(0)
      expect(lateMs).toBeLessThanOrEqual(50)
    }
  })

  it('The deadline wheel forgets an entry that was removed, wherever it was in its slot', () => {
    const wheel = new DeadlineWheel(25)
    const expired: number[] = []
    const entries = Array.from({ length: 100 }, (_, n) => entry(() => expired.push(n)))
    for (const one of entries) wheel.add(one, performance.now(), 100)
    entries.forEach((one, n) => {
      if (n % 3 !== 0) wheel.remove(one)
    })
    for (const one of entries) if (one.wheelSlot < 0) wheel.remove(one)
    vi.advanceTimersByTime(200)
    expect(expired.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, n) => n).filter((n) => n % 3 === 0),
    )
  })

  it('One expiry of the deadline wheel may remove another entry that is due', () => {
    const wheel = new DeadlineWheel(25)
    const expired: string[] = []
    const second = entry(() => expired.push('second'))
    const first = entry(() => {
      expired.push('first')
      wheel.remove(second)
    })
    wheel.add(first, performance.now(), 50)
    wheel.add(second, performance.now(), 50)
    vi.advanceTimersByTime(200)
    expect(expired).toEqual(['first'])
  })

  it('The deadline wheel has no timer while it is empty, and turns again when it is not', () => {
    const wheel = new DeadlineWheel(25)
    let expired = 0
    for (let round = 0; round < 3; round++) {
      wheel.add(
        entry(() => expired++),
        performance.now(),
        30,
      )
      expect(vi.getTimerCount()).toBe(1)
      vi.advanceTimersByTime(5_000)
      expect(vi.getTimerCount()).toBe(0)
    }
    expect(expired).toBe(3)
  })
})
