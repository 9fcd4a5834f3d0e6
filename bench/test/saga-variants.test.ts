import { describe, expect, it } from 'vitest'
import { uniqueText } from '../src/load/unique-text.ts'
import { boundRatio, flushRatio } from '../src/scenarios/latency/bound-ratio.ts'
import { branchRatios, branchVariants, withBranchRate } from '../src/scenarios/saga-branches.ts'
import { submitJob } from '../src/scenarios/saga-job.ts'
import { readCommand } from '../src/settings.ts'
import { toSpread } from '../src/spread.ts'

const length = { type: 'count', warmUpAnswers: 0, answers: 1 } as const
const readBody = (shape: Parameters<typeof submitJob>[1]) =>
  JSON.parse(submitJob('http://server', shape, 1, length).body)

describe('the body of a saga', () => {
  const shape = { branchUrl: 'http://branch', branches: 2 }

  it('The body of a saga leaves the order of its branches to the server', () => {
    expect(readBody(shape).branches).toMatchObject([
      { action: 'http://branch/action-1', compensation: 'http://branch/compensation-1' },
      { action: 'http://branch/action-2', compensation: 'http://branch/compensation-2' },
    ])
    expect(JSON.stringify(readBody(shape))).not.toContain('after')
  })

  it('Branches that are to run at once wait for no other branch', () => {
    expect(readBody({ ...shape, isParallel: true }).branches).toMatchObject([{ after: [] }, { after: [] }])
  })

  it('An empty saga has branches with empty URLs', () => {
    const [branch] = readBody({ ...shape, isEmpty: true }).branches
    expect(branch).toMatchObject({ action: '', compensation: '' })
  })

  it('The body of a saga states its ack, and the answer is expected to show it', () => {
    expect(readBody({ ...shape, ack: 'memory' }).ack).toBe('memory')
    expect(submitJob('http://server', { ...shape, ack: 'memory' }, 1, length).expect).toBe('"ack":"memory"')
    expect(submitJob('http://server', shape, 1, length).expect).toBe('"ack":"durable"')
  })
})

describe('rows by number of branches', () => {
  const variants = branchVariants(8)
  const plans = variants.map((variant) => ({
    name: variant.name,
    variant,
    job: submitJob('http://server', { branchUrl: 'http://branch', branches: variant.branches }, 8, length),
    workers: [],
  }))

  it('The rows by number of branches have different names', () => {
    expect(new Set(variants.map(({ name }) => name)).size).toBe(variants.length)
  })

  it('The rows by number of branches are compared by branches a second, round by round', () => {
    // Sagas of 20 branches at a tenth of the rate of all others are twice as many branches as sagas of 2.
    const rows = variants.map(({ name, branches }) => {
      const perSecond = toSpread(branches === 20 ? [100, 200] : [1_000, 1_000])
      const row = { name, perSecond, p50Ms: null, p99Ms: null, cpuUs: null, answers: 1, figures: {} }
      return withBranchRate(row, branches)
    })
    const [ratio] = branchRatios(plans, rows)
    expect(ratio?.name).toBe('20-branches/2-branches')
    expect(ratio?.spread.rounds).toEqual([1, 2])
  })
})

describe('the bound of the latency', () => {
  it('The bound of the latency is two commits and 0.3 ms', () => {
    const p50s = { relay: toSpread([0.2, 0.2]), writing: toSpread([2.5, 4.8]), commit: toSpread([1, 1]) }
    expect(boundRatio(p50s).rounds.map((each) => Math.round(each * 1000) / 1000)).toEqual([1, 2])
    expect(flushRatio(p50s).rounds.map((each) => Math.round(each * 1000) / 1000)).toEqual([2.3, 4.6])
  })
})

describe('a unique text', () => {
  it('A unique text differs by connection and by request', () => {
    const texts = [uniqueText('run', 1, 11), uniqueText('run', 11, 1), uniqueText('run', 1, 1)]
    expect(new Set(texts).size).toBe(3)
  })
})

describe('the target', () => {
  it('The option --target is taken as it is given', () => {
    const { given } = readCommand(['dtm', '--target', 'http://a:36789,http://b:36789']) as { given: object }
    expect(given).toEqual({ target: 'http://a:36789,http://b:36789' })
  })
})
