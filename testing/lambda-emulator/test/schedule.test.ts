import { expect, it, onTestFinished, vi } from 'vitest'
import { startSchedule } from '../src/index.ts'
import { describeLambda } from '../src/vitest/describe-lambda.ts'
import { openFunction } from './open-function.ts'

const WAIT_MS_MAX = 20_000

describeLambda('a schedule', (client) => {
  it('A schedule invokes its function again and again until it is stopped', async () => {
    const target = await openFunction(client, 'steps.handler')
    const schedule = startSchedule({ target, everyMs: 100, overlap: 'never' })
    onTestFinished(() => schedule.stop())
    await vi.waitFor(() => expect(schedule.counts().answered).toBeGreaterThanOrEqual(3), WAIT_MS_MAX)
    await schedule.stop()
    const { invoked, answered, failed } = schedule.counts()
    expect({ answered, failed }).toEqual({ answered: invoked, failed: 0 })
  })

  for (const overlap of ['never', 'allowed'] as const) {
    it(`A schedule with overlap ${overlap} ${overlap === 'never' ? 'skips' : 'starts'} what is due while one runs`, async () => {
      const target = await openFunction(client, 'hanging.handler', { reservedConcurrency: 2 })
      const schedule = startSchedule({ target, everyMs: 50, overlap })
      onTestFinished(async () => {
        const stopped = schedule.stop()
        await target.stop()
        await stopped
      })
      const { counts } = schedule
      const isSeen = () => (overlap === 'never' ? counts().skipped : counts().failed) >= 3
      await vi.waitFor(() => expect(isSeen()).toBe(true), WAIT_MS_MAX)
      const { invoked, skipped, failed } = counts()
      const throttled = { skipped, failed }
      if (overlap === 'never') expect({ invoked, failed }).toEqual({ invoked: 1, failed: 0 })
      else expect(throttled).toEqual({ skipped: 0, failed: invoked - 2 })
      expect(target.environments()).toHaveLength(overlap === 'never' ? 1 : 2)
    })
  }
})
