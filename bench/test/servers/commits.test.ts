import { describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { runBench } from '../../src/run-bench.ts'
import { commits } from '../../src/scenarios/commits.ts'
import { DEFAULT_SETTINGS, type Settings } from '../../src/settings.ts'

const SMOKE: Settings = {
  ...DEFAULT_SETTINGS,
  store: 'mariadb',
  seconds: 0.3,
  warmUpSeconds: 0.05,
  connections: 4,
  rounds: 1,
}
const SMOKE_MS_MAX = 60_000
const silent = { show: () => undefined, clear: () => undefined }

describeOwn('mariadb', 'the commits of a saga', () => {
  it('are counted by the database, beside each saga and each call', { timeout: SMOKE_MS_MAX }, async () => {
    const { counters, rows } = await runBench(commits, SMOKE, silent)
    expect(counters.answers).toBeGreaterThan(0)
    expect(counters.stored).toBe(counters.answers)
    expect(counters.branchCalls).toBeGreaterThan(counters.answers ?? 0)
    expect(rows.every(({ figures }) => (figures['commits/saga']?.median ?? 0) > 0)).toBe(true)
  })
})
