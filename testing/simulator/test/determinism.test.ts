import { describe, expect, it } from 'vitest'
import { freshSeed, simulate } from '../src/index.ts'

describe('a seed', () => {
  it('A seed is the same world each time, traced or not', () => {
    const first = freshSeed(Date.now())
    for (const seed of [1, 2, 3, 77, 4_160, first, first + 1, first + 2]) {
      const once = simulate(seed)
      const again = simulate(seed, undefined, { trace: true })
      expect(again.traceHash, `seed ${seed}`).toBe(once.traceHash)
      expect(again.counters).toEqual(once.counters)
      expect(again.trace.length).toBeGreaterThan(once.trace.length)
    }
  })

  it('A reduced seed is the same world each time', () => {
    const reduction = { off: ['crashes', 'flaky'], dropped: ['g1'], healAtMs: 2_000 } as const
    const [once, again] = [1, 2].map(() => simulate(24, undefined, { reduction }))
    expect(again?.traceHash).toBe(once?.traceHash)
    expect(once?.faults).toMatchObject({ crashes: 0, flaky: 0 })
    expect(once?.gids).not.toContain('g1')
    expect(once?.healAtMs).toBe(2_000)
  })

  it('A seed is another world than its neighbour', () => {
    const hashes = Array.from({ length: 200 }, (_, seed) => simulate(seed).traceHash)
    expect(new Set(hashes).size).toBe(hashes.length)
  })
})

describe('a fresh seed', () => {
  it('A fresh seed starts another block each second, far enough from the last', () => {
    const [now, soon] = [freshSeed(1_700_000_000_000), freshSeed(1_700_000_001_000)]
    expect(soon - now).toBe(20_000)
    expect(freshSeed(1_700_000_000_999)).toBe(now)
  })
})
