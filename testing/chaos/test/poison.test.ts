import { expect, it } from 'vitest'
import { healthyShare } from '../src/overload/poison-figures.ts'
import { runPoison } from '../src/overload/run-poison.ts'

const HEALTHY_SHARE_MIN = 0.7
const RUN_MS_MAX = 400_000

it('Healthy sagas go on beside sagas that cannot be undone, which a person sees and can end', {
  timeout: RUN_MS_MAX,
}, async () => {
  // There are few callers, which wait for their branches most of the time: the CPU, which other tests want too, must
  // not be the limit.
  const report = await runPoison({ healthyCallers: 8, rounds: 3, roundSeconds: 3 })
  for (const round of report.beside) {
    expect(round.poison).toBeGreaterThan(0)
    expect(round).toMatchObject({ notSucceeded: 0, withoutAttention: 0, notUndone: 0 })
  }
  expect(healthyShare(report)).toBeGreaterThanOrEqual(HEALTHY_SHARE_MIN)
})
