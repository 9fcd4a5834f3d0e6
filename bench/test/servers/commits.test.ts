import { describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { runBench } from '../../src/run-bench.ts'
import { commits } from '../../src/scenarios/commits.ts'
import { SMOKE, SMOKE_MS_MAX, silent } from '../smoke.ts'

for (const store of ['mariadb', 'postgres'] as const) {
  describeOwn(store, 'the commits of a saga', () => {
    it('The report shows how many commits the database counted for each saga', {
      timeout: SMOKE_MS_MAX,
    }, async () => {
      const { counters, rows } = await runBench(commits, { ...SMOKE, store }, silent)
      expect(counters.answers).toBeGreaterThan(0)
      expect(counters.stored).toBe(counters.answers)
      expect(counters.branchCalls).toBeGreaterThan(counters.answers ?? 0)
      expect(rows.every(({ figures }) => (figures['commits/saga']?.median ?? 0) > 0)).toBe(true)
    })
  })
}
