import { describe, expect, it } from 'vitest'
import { addCounters, MUTANTS, newCounters, simulate, vacuous } from '../src/index.ts'

const BASES = [1, 100_001, 200_001, 300_001, 400_001, 500_001]
const SEEDS = 2_000
const MUTANT_SEEDS = 1_000

/** The first seed that shows the mutant, and by which invariant. */
function firstKill(mutant: string): { readonly seed: number; readonly invariant: string } | undefined {
  for (let seed = 1; seed <= MUTANT_SEEDS; seed++) {
    const [violation] = simulate(seed, mutant).violations
    if (violation !== undefined) return { seed, invariant: violation.invariant }
  }
  return undefined
}

describe('the right core in a bad world', () => {
  const counters = newCounters()
  for (const base of BASES) {
    it(`breaks no invariant in seeds ${base} to ${base + SEEDS - 1}`, () => {
      for (let seed = base; seed < base + SEEDS; seed++) {
        const result = simulate(seed)
        addCounters(counters, result.counters)
        expect(result.violations, `npm run simulate -- --seed ${seed} --trace`).toEqual([])
      }
    })
  }

  it('went through everything that it claims to survive', () => {
    expect(counters.sagas).toBeGreaterThan(BASES.length * SEEDS)
    expect(vacuous(counters)).toEqual([])
  })
})

describe('a seed', () => {
  it('is the same world each time, traced or not', () => {
    for (const seed of [1, 2, 3, 77, 4_160]) {
      const first = simulate(seed)
      const again = simulate(seed, undefined, { trace: true })
      expect(again.traceHash).toBe(first.traceHash)
      expect(again.counters).toEqual(first.counters)
      expect(again.trace.length).toBeGreaterThan(first.trace.length)
    }
  })

  it('is another world than its neighbour', () => {
    const hashes = Array.from({ length: 200 }, (_, seed) => simulate(seed).traceHash)
    expect(new Set(hashes).size).toBe(hashes.length)
  })
})

describe('the auditor', () => {
  for (const mutant of Object.keys(MUTANTS)) {
    it(`kills ${mutant}`, () => {
      const kill = firstKill(mutant)
      expect(kill, `${mutant} lived through ${MUTANT_SEEDS} seeds`).toBeDefined()
      process.stdout.write(`${mutant}: killed by seed ${kill?.seed}, ${kill?.invariant}\n`)
    })
  }

  it('knows no other mutant', () => {
    expect(() => simulate(1, 'none-such')).toThrow(RangeError)
  })
})
