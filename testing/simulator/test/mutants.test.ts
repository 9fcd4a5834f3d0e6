import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MUTANTS, PROOFS, simulate } from '../src/index.ts'

const SEEDS = 1_000
const TIMEOUT_MS = 120_000

interface Kill {
  readonly seed: number
  readonly invariants: readonly string[]
}

/** Finds the first seed that shows the mutant, by this invariant or by any. */
function firstKill(mutant: string, invariant?: string): Kill | undefined {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const invariants = [...new Set(simulate(seed, mutant).violations.map((broken) => broken.invariant))]
    const isKilled = invariant === undefined ? invariants.length > 0 : invariants.includes(invariant)
    if (isKilled) return { seed, invariants }
  }
  return undefined
}

describe('the auditor', () => {
  it('There are more than twenty mutants to find', () => {
    expect(Object.keys(MUTANTS).length).toBeGreaterThanOrEqual(20)
  })

  for (const mutant of Object.keys(MUTANTS)) {
    it(
      `kills ${mutant}`,
      () => {
        const kill = firstKill(mutant)
        expect(kill, `${mutant} lived through ${SEEDS} seeds`).toBeDefined()
        process.stdout.write(`${mutant}: killed by seed ${kill?.seed}, ${kill?.invariants.join(' ')}\n`)
      },
      TIMEOUT_MS,
    )
  }

  it('An unknown mutant is refused', () => {
    expect(() => simulate(1, 'none-such')).toThrow(RangeError)
  })
})

describe('the check of', () => {
  for (const [invariant, mutant] of Object.entries(PROOFS)) {
    it(
      `${invariant} bites: ${mutant} breaks it`,
      () => {
        expect(firstKill(mutant, invariant)).toBeDefined()
      },
      TIMEOUT_MS,
    )
  }

  it('Each invariant stands in the README beside the mutant that breaks it', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    const rows = [...readme.matchAll(/^\| (I\d+|L\d+|strict|message) +\|.*\| `([a-z-]+)` +\|$/gm)]
    expect(Object.fromEntries(rows.map(([, invariant, mutant]) => [invariant, mutant]))).toEqual(PROOFS)
  })
})
