import { describe, expect, it } from 'vitest'
import {
  addCounters,
  describeFailure,
  freshSeed,
  keepRegression,
  newCounters,
  readRegressions,
  runSeeds,
  type SeedsRun,
  shrink,
  vacuous,
  WHOLE,
} from '../src/index.ts'

const SEEDS = 15_000
const BLOCK_SEEDS = 1_500
const TIMEOUT_MS = 120_000

/** Shrinks a failure and keeps it in the list of regressions. */
function explain(failing: NonNullable<SeedsRun['failing']>): string {
  const { seed, result } = failing
  const shrunk = shrink(seed)
  if (shrunk === undefined) return describeFailure(failing)
  const { reduction, invariant } = shrunk
  const note = `${invariant}: ${result.violations[0]?.text}`
  return `${describeFailure({ ...failing, reduction, result: shrunk.result })}\nkept: ${keepRegression({ seed, reduction, note })}`
}

describe('the seeds that once failed', () => {
  it('All seeds that once failed pass, before any others', () => {
    const regressions = readRegressions()
    const { failing } = runSeeds({ seeds: regressions })
    expect(failing === undefined ? '' : describeFailure(failing)).toBe('')
    expect(regressions.length).toBeGreaterThan(0)
  })
})

describe('the right core in bad worlds of fresh seeds', () => {
  const first = freshSeed(Date.now())
  const counters = newCounters()
  const spent = { seeds: 0, cpuMs: 0 }
  process.stdout.write(`fresh seeds: npm run simulate -- --seeds ${SEEDS} --seed ${first}\n`)

  for (let base = first; base < first + SEEDS; base += BLOCK_SEEDS) {
    const seeds = Array.from({ length: BLOCK_SEEDS }, (_, offset) => ({
      seed: base + offset,
      reduction: WHOLE,
    }))
    it(
      `breaks no invariant in seeds ${base} to ${base + BLOCK_SEEDS - 1}`,
      () => {
        const before = process.cpuUsage()
        const run = runSeeds({ seeds })
        const { user, system } = process.cpuUsage(before)
        spent.seeds += run.seeds
        spent.cpuMs += (user + system) / 1_000
        addCounters(counters, run.counters)
        expect(run.failing === undefined ? '' : explain(run.failing)).toBe('')
      },
      TIMEOUT_MS,
    )
  }

  it('The fresh seeds went through every fault that the core must survive', () => {
    expect(counters.sagas).toBeGreaterThan(SEEDS)
    expect(vacuous(counters, SEEDS)).toEqual([])
  })

  // It runs some 10,000 on a quiet machine. The CPU time of a world varies by half, with what other threads of the core do.
  it('The simulator runs thousands of worlds in a minute of one core', () => {
    expect((spent.seeds / spent.cpuMs) * 60_000).toBeGreaterThan(4_000)
  })
})
