import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  formatSeed,
  keepRegression,
  parseSeed,
  readRegressions,
  shrink,
  simulate,
  WHOLE,
} from '../src/index.ts'

const MUTANT = 'no-idempotency'

function failingSeed(): number {
  // The failure of seed 3 comes as early as it may, so that its time cannot be shortened.
  for (let seed = 4; seed < 100; seed++) if (simulate(seed, MUTANT).violations.length > 0) return seed
  throw new Error(`${MUTANT} lives`)
}

describe('a failing seed', () => {
  const seed = failingSeed()
  const whole = simulate(seed, MUTANT)
  const shrunk = shrink(seed, MUTANT)

  it('A failing seed shrinks to a smaller world that breaks the same invariant', () => {
    expect(shrunk).toBeDefined()
    if (shrunk === undefined) return
    expect(shrunk.invariant).toBe(whole.violations[0]?.invariant)
    expect(shrunk.result.violations[0]?.invariant).toBe(shrunk.invariant)
    expect(shrunk.result.events).toBeLessThan(whole.events / 2)
    expect(shrunk.result.gids.length).toBeLessThan(whole.gids.length)
    expect(shrunk.reduction.off.length).toBeGreaterThan(0)
    expect(shrunk.result.healAtMs).toBeLessThan(whole.healAtMs)
  })

  it('The kept line of a failing seed shows the same failure again', () => {
    if (shrunk === undefined) throw new Error('it did not shrink')
    const { reduction } = parseSeed(formatSeed({ seed, reduction: shrunk.reduction }))
    expect(simulate(seed, MUTANT, { reduction }).traceHash).toBe(shrunk.result.traceHash)
  })

  it('A seed that passes does not shrink', () => {
    expect(shrink(seed)).toBeUndefined()
  })
})

describe('the list of regressions', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-seeds-'))
  const file = join(folder, 'seeds.regress.txt')
  const reduction = { off: ['crashes', 'flaky'], dropped: ['g0', 't1'], healAtMs: 1_200 } as const
  beforeAll(() => writeFileSync(file, '# for people\n\n7 # I3: what it showed # there\n'))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('The list of regressions keeps a seed once', () => {
    const regression = { seed: 4_160, reduction, note: 'I10: forgotten' }
    const line = keepRegression(regression, file)
    expect(keepRegression(regression, file)).toBe(line)
    expect(line).toBe('4160 off=crashes,flaky drop=g0,t1 heal=1200 # I10: forgotten')
    expect(
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((each) => each === line),
    ).toHaveLength(1)
    expect(readRegressions(file)).toEqual([
      { seed: 7, reduction: WHOLE, note: 'I3: what it showed # there' },
      regression,
    ])
  })

  it.each(['', 'x', '7 off=none-such', '7 heal=soon', '7 what=1'])('refuses the line %j', (text) => {
    expect(() => parseSeed(text)).toThrow(RangeError)
  })
})
