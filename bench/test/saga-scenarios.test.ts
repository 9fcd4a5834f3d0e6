import { describe, expect, it } from 'vitest'
import { runBench } from '../src/run-bench.ts'
import { dtm } from '../src/scenarios/dtm.ts'
import { inProcess } from '../src/scenarios/in-process.ts'
import { memory } from '../src/scenarios/memory.ts'
import { sagaBranches } from '../src/scenarios/saga-branches.ts'
import { signed } from '../src/scenarios/signed.ts'
import { submit } from '../src/scenarios/submit.ts'
import { twoWritesBaseline } from '../src/scenarios/two-writes-baseline.ts'
import { SMOKE, SMOKE_MS_MAX, silent } from './smoke.ts'

describe('sagas of many branches', () => {
  it('A saga of many branches has a call for each branch, one after the other or at once', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    const { counters, rows, ratios } = await runBench(sagaBranches, SMOKE, silent)
    expect(rows).toHaveLength(7)
    expect(counters.stored).toBe(counters.answers)
    expect(counters.branchCalls).toBeGreaterThan(counters.answers ?? 0)
    expect(ratios).toHaveProperty('20-branches/2-branches')
  })
})

describe('the two-writes baseline', () => {
  it('The two-writes baseline stores its sagas and calls their branches', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    const { counters, rows, ratios } = await runBench(
      twoWritesBaseline,
      { ...SMOKE, store: 'sqlite' },
      silent,
    )
    expect(rows.map(({ name }) => name)).toEqual(['relay', 'two-writes baseline', 'saga'])
    expect(counters.storedByBaseline).toBeGreaterThan(0)
    expect(counters.baselineCalls).toBe(2 * (counters.storedByBaseline ?? 0))
    expect(Object.keys(ratios)).toEqual(['baseline/relay', 'saga/relay', 'saga/baseline'])
  })
})

describe('sagas in one process', () => {
  it('Sagas of functions of one process are stored, and each branch is called once', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    const { counters, rows, ratios } = await runBench(inProcess, { ...SMOKE, store: 'sqlite' }, silent)
    expect(rows.map(({ name }) => name)).toEqual(['relay', 'in-process', 'saga'])
    expect(counters.inProcessStored).toBeGreaterThan(0)
    expect(counters.inProcessCalls).toBe(2 * (counters.inProcessStored ?? 0))
    expect(Object.keys(ratios)).toEqual(['in-process/relay', 'in-process/saga'])
  })
})

describe('signed sagas', () => {
  it('Signed sagas end like unsigned ones, and each call of a branch is counted', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    const { counters, rows, ratios } = await runBench(signed, { ...SMOKE, store: 'sqlite' }, silent)
    expect(rows.map(({ name }) => name)).toEqual([
      'saga',
      'saga, signed, ed25519',
      'saga, signed, hmac-sha256',
    ])
    expect(counters.stored).toBe(counters.answers)
    expect(counters.branchCalls).toBe(2 * (counters.answers ?? 0))
    expect(ratios['signed/saga, ed25519']).toBeGreaterThan(0)
    expect(ratios['signed/saga, hmac-sha256']).toBeGreaterThan(0)
  })
})

describe('submits without a wait', () => {
  it('Sagas that no caller waits for end all the same, acknowledged durably or from memory', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    const { counters, rows, ratios } = await runBench(submit, { ...SMOKE, store: 'sqlite' }, silent)
    expect(rows).toHaveLength(6)
    expect(counters.answers).toBeGreaterThan(0)
    expect(counters.stored).toBe(counters.answers)
    expect(counters.branchCalls).toBe(2 * (counters.answers ?? 0))
    expect(ratios['memory/durable, 1 connection']).toBeGreaterThan(0)
  })
})

describe('delayed sagas', () => {
  it('Delayed sagas are all in the store, and no branch is called', { timeout: SMOKE_MS_MAX }, async () => {
    const { counters, rows, ratios } = await runBench(memory, { ...SMOKE, sagas: 500 }, silent)
    expect(counters).toMatchObject({ answers: 500, stored: 500 })
    expect(rows[0]?.figures['RSS peak MB']?.median).toBeGreaterThan(0)
    expect(ratios['RSS/300 MB']).toBeGreaterThan(0)
  })
})

describe('a target of the scenario dtm', () => {
  it('A target that gives no answer fails the run', { timeout: SMOKE_MS_MAX }, async () => {
    const nothing = { ...SMOKE, target: 'http://127.0.0.1:1' }
    await expect(runBench(dtm, nothing, silent)).rejects.toThrow()
  })
})
