import { describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { runBench } from '../../src/run-bench.ts'
import { workflow } from '../../src/scenarios/workflow.ts'
import { SMOKE, SMOKE_MS_MAX, silent } from '../smoke.ts'

// The audit of 3 steps, of which two take a cent and one gives one, also sees that each account got what it should.
const WORKFLOWS = { ...SMOKE, branches: 3, accounts: 500, seconds: 1 }

describeOwn('postgres', 'workflows beside sagas', () => {
  it('Each answered workflow and each answered saga has made its steps once, each behind the barrier', {
    timeout: SMOKE_MS_MAX,
  }, async () => {
    const { counters, rows, ratios, store } = await runBench(workflow, WORKFLOWS, silent)
    expect(rows.map(({ name }) => name)).toEqual(['saga', 'workflow'])
    for (const name of ['saga', 'workflow']) {
      const answers = counters[`${name} answers`] ?? 0
      expect(answers).toBeGreaterThan(0)
      expect(counters[`${name} stored`]).toBe(answers)
      expect(counters[`${name} moves`]).toBe(3 * answers)
      expect(counters[`${name} barrierRows`]).toBe(3 * answers)
    }
    expect(ratios['workflow/saga']).toBeGreaterThan(0)
    expect(store).toMatchObject({ name: 'sqlite', durabilityClass: 'A' })
  })
})
