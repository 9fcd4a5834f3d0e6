import { readlinkSync } from 'node:fs'
import { freePort, startRedis } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it, type TestContext } from 'vitest'
import type { CutReport } from '../../src/power-loss/cut-run.ts'
import { PoweredRedis, type RedisChoice } from '../../src/power-loss/powered-redis.ts'
import { type PowerLossResult, runPowerLoss } from '../../src/power-loss/run-power-loss.ts'

const CUTS = 5
/** A cut takes nothing where all that was acknowledged happens to be flushed, or to survive, which three cuts in a row were seen to do. */
const LOSING_CUTS = 10
const ACKNOWLEDGED_PER_CUT = 40
const SEED = 20_261_121
const RUN_MS_MAX = 300_000

describeOwn('redis', 'a Redis whose power is cut under load', () => {
  it('A Redis with appendfsync always has all that was acknowledged, finished once', {
    timeout: RUN_MS_MAX,
  }, async (context) => {
    const report = readReport(await cutRedis('always', CUTS), context)
    expect(report).toMatchObject({ cuts: CUTS, lost: [], faults: [], refused: undefined })
    expect(report.acknowledged).toBeGreaterThanOrEqual(CUTS * ACKNOWLEDGED_PER_CUT)
    expect(report.cutsBetweenWriteAndSync).toBeGreaterThanOrEqual(CUTS - 1)
  })

  it('A Redis with appendfsync everysec loses what was acknowledged, or these cuts would prove nothing', {
    timeout: RUN_MS_MAX,
  }, async (context) => {
    const report = readReport(await cutRedis('everysec', LOSING_CUTS), context)
    expect(report.lost.length).toBeGreaterThan(0)
  })
})

async function cutRedis(appendfsync: RedisChoice['appendfsync'], cuts: number): Promise<PowerLossResult> {
  const store = new PoweredRedis({ binary: await redisProgram(), port: await freePort(), appendfsync })
  return await runPowerLoss({ store, cuts, acknowledgedPerCut: ACKNOWLEDGED_PER_CUT, seed: SEED })
}

/** Finds the program that the other tests run, wherever it is. */
async function redisProgram(): Promise<string> {
  if (process.platform !== 'linux') return 'redis-server'
  const redis = await startRedis()
  try {
    return readlinkSync(`/proc/${redis.pid()}/exe`)
  } finally {
    await redis.stop()
  }
}

function readReport(result: PowerLossResult, context: TestContext): CutReport {
  if ('type' in result) return context.skip(result.reason)
  const { lost, faults, refused: _, ...counts } = result
  process.stdout.write(
    `power loss: ${JSON.stringify({ ...counts, lost: lost.length, faults: faults.length })}\n`,
  )
  return result
}
