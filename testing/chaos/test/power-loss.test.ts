import { describe, expect, it, type TestContext } from 'vitest'
import type { CutReport } from '../src/power-loss/cut-run.ts'
import { cutWhileOpening } from '../src/power-loss/cut-while-opening.ts'
import { poweredSqlite } from '../src/power-loss/powered-sqlite.ts'
import { recordSecondStart } from '../src/power-loss/record-second-start.ts'
import {
  type PowerLossOptions,
  type PowerLossResult,
  runPowerLoss,
} from '../src/power-loss/run-power-loss.ts'

const CUTS = 5
const OPENING_CUTS = 6
const ACKNOWLEDGED_PER_CUT = 40
const CLASS_B_MS_MAX = 2_000
/** Some of what is acknowledged is then older than what class B may lose. */
const CLASS_B_LOAD_MS = 3_500
const SEED = 20_261_121
const RUN_MS_MAX = 300_000

describe('a sqlite store whose power is cut under load', { timeout: RUN_MS_MAX }, () => {
  it('A sqlite store with synchronous=FULL has all that was acknowledged, finished once', async (context) => {
    const store = poweredSqlite('full')
    const report = await run(context, { store, cuts: CUTS })
    expect(report).toMatchObject({ cuts: CUTS, lost: [], faults: [], refused: undefined })
    expect(report.acknowledged).toBeGreaterThanOrEqual(CUTS * ACKNOWLEDGED_PER_CUT)
    expect(report.cutsBetweenWriteAndSync).toBeGreaterThanOrEqual(CUTS - 1)
  })

  it('A sqlite store with synchronous=NORMAL loses what was acknowledged just before, or these cuts would prove nothing, and nothing older', async (context) => {
    const store = poweredSqlite('normal')
    const report = await run(context, { store, cuts: 2, loadMsMin: CLASS_B_LOAD_MS })
    expect(report.lost.length).toBeGreaterThan(0)
    expect(report.acknowledged - report.lost.length).toBeGreaterThan(0)
    expect(report.lostAgeMsMax).toBeLessThan(CLASS_B_MS_MAX)
  })

  it('A disk that only says it has synced loses what was acknowledged', async (context) => {
    const store = poweredSqlite('full')
    const report = await run(context, { store, cuts: 3, isLying: true })
    expect(report.lost.length).toBeGreaterThan(0)
  })

  it('A sqlite store whose flushes have failed for a while has all that was acknowledged before and after', async (context) => {
    const store = poweredSqlite('full')
    const report = await run(context, { store, cuts: 3, failsSyncs: true })
    expect(report).toMatchObject({ cuts: 3, lost: [], faults: [], refused: undefined })
    expect(report.acknowledged).toBeGreaterThanOrEqual(6 * ACKNOWLEDGED_PER_CUT)
  })

  it('A sqlite store opens whatever a cut in its first start has left', async (context) => {
    const report = await cutWhileOpening(poweredSqlite('full'), OPENING_CUTS, SEED)
    if ('type' in report) return context.skip(report.reason)
    expect(report.notes).toBeGreaterThan(OPENING_CUTS)
  })

  it('A sqlite store flushes what a process that was killed has written, before it writes itself', async (context) => {
    const notes = await recordSecondStart(poweredSqlite('full'))
    if ('type' in notes) return context.skip(notes.reason)
    for (const file of ['counterstep.db', 'counterstep.db-wal']) {
      const done = notes.filter(({ path }) => path.endsWith(`/${file}`)).map(({ type }) => type)
      expect([file, ...done.slice(0, 2)]).toEqual([file, 'sync-begin', 'sync-end'])
    }
  })
})

/** Cuts the power again and again, and reports. Skips the test where that cannot be done. */
async function run(
  context: TestContext,
  options: Omit<PowerLossOptions, 'acknowledgedPerCut' | 'seed'>,
): Promise<CutReport> {
  const bounds = { acknowledgedPerCut: ACKNOWLEDGED_PER_CUT, seed: SEED }
  return readReport(await runPowerLoss({ ...options, ...bounds }), context)
}

function readReport(result: PowerLossResult, context: TestContext): CutReport {
  if ('type' in result) return context.skip(result.reason)
  const { lost, faults, refused: _, ...counts } = result
  process.stdout.write(
    `power loss: ${JSON.stringify({ ...counts, lost: lost.length, faults: faults.length })}\n`,
  )
  return result
}
