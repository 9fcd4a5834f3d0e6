import { describe, expect, it } from 'vitest'
import { healthyShare } from '../src/hanging-bank/hanging-bank-figures.ts'
import { runHangingBank, runHangingBankRound } from '../src/hanging-bank/run-hanging-bank.ts'

const HEALTHY_SHARE_MIN = 0.7
const RUN_MS_MAX = 600_000
/**
 * There are few callers, which wait for their banks most of the time: the CPU, which other tests want too, must not be
 * the limit.
 */
const SETTINGS = {
  healthyCallers: 8,
  rounds: 2,
  roundSeconds: 3,
  flood: 640,
  flags: { 'in-flight-max': 400, 'calls-in-flight-max': 400, 'recovery-in-flight-max': 100 },
}

describe('S40: one of three banks hangs', () => {
  it('Two banks keep their rate while the third hangs, and what was accepted for it ends once it answers again', {
    timeout: RUN_MS_MAX,
  }, async () => {
    const report = await runHangingBank(SETTINGS)
    for (const round of [...report.well, ...report.hanging])
      expect(round).toMatchObject({ healthyFailures: 0, others: 0, unfinished: 0 })
    for (const { refused, accepted } of report.hanging) {
      expect(refused).toBeGreaterThan(0)
      expect(accepted).toBeGreaterThan(0)
    }
    expect(healthyShare(report)).toBeGreaterThanOrEqual(HEALTHY_SHARE_MIN)
  })

  it('Mutant: the two other banks come to a stand without a share', { timeout: RUN_MS_MAX }, async () => {
    const flags = { ...SETTINGS.flags, 'target-share': 1 }
    const { healthyPerSecond } = await runHangingBankRound({ ...SETTINGS, flags }, true)
    expect(healthyPerSecond).toBe(0)
  })
})
