import { setTimeout as pause } from 'node:timers/promises'
import { checkEqual } from '../check-counts.ts'
import { startBranch } from '../harness/branch.ts'
import { countStored } from '../harness/count-stored.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import { type Server, startServer } from '../harness/server.ts'
import { type Measured, measure, toRow } from '../rounds.ts'
import { divideSpreads } from '../row.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { toSpread } from '../spread.ts'
import { openStoreHost, toStoreFacts } from '../stores/open-store-host.ts'
import type { StoreHost } from '../stores/store-host.ts'
import { heapFigures, residentMb, residentPeakMb } from './memory/resident-peak.ts'
import { submitJob } from './saga-job.ts'

/** None of them starts while it is measured. */
const DELAY_MS = 24 * 3_600_000
const BOUND_MB = 300
/** Long enough to read what is due, and for the collector to run. */
const IDLE_MS = 5_000
const PEAK = 'RSS peak MB'
const RESTARTED_PEAK = 'restarted: RSS peak MB'

export const memory: Scenario = {
  name: 'memory',
  summary: 'memory of a server with many delayed sagas that are not finished, before and after a restart',
  defaults: { sagas: 100_000, rounds: 1 },
  async run(context) {
    const { harness, settings } = context
    const host = await openStoreHost(harness, settings.store)
    const rounds: Round[] = []
    for (let round = 1; round <= settings.rounds; round += 1) rounds.push(await runRound(context, host))
    const [first] = rounds
    if (first === undefined) throw new Error('there was no round')
    const row = toRow(
      `${settings.sagas} delayed sagas`,
      rounds.map(({ measured }) => measured),
    )
    const peaks = toSpread(
      rounds.map(({ measured: { figures } }) =>
        Math.max(figures[PEAK] ?? Number.NaN, figures[RESTARTED_PEAK] ?? Number.NaN),
      ),
    )
    return {
      store: toStoreFacts(host, first.server),
      rows: [row],
      ratios: [
        {
          name: `RSS/${BOUND_MB} MB`,
          spread: divideSpreads(peaks, toSpread(peaks.rounds.map(() => BOUND_MB))),
        },
      ],
      counters: { answers: row.answers, stored: rounds.reduce((sum, { stored }) => sum + stored, 0) },
      notes: [
        `RSS: of the server's process, read from its /metrics every half a second, until ${IDLE_MS / 1000} s after the last submit, and for ${IDLE_MS / 1000} s of a new server on the same database`,
        `RSS/${BOUND_MB} MB: the highest of both`,
      ],
    }
  },
}

interface Round {
  readonly server: Server
  readonly measured: Measured
  readonly stored: number
}

async function runRound(context: ScenarioContext, host: StoreHost): Promise<Round> {
  const { harness, settings, progress } = context
  const { sagas, branches, connections } = settings
  const branch = await startBranch(harness)
  const database = await host.newDatabase()
  const server = await startServer(harness, database, settings)
  const beforeMb = await residentMb(server.url)
  progress.show(`${sagas} delayed sagas are submitted`)
  const shape = { branchUrl: branch.url, branches, delayMs: DELAY_MS }
  const length = { type: 'count', warmUpAnswers: 0, answers: sagas } as const
  const job = submitJob(server.url, shape, connections, length)
  const workers = [server.child, ...databaseWorker(host)]
  const { result, peakMb } = await residentPeakMb(server.url, async () => {
    const submitted = await measure(harness, { name: 'delayed', job, workers })
    await pause(IDLE_MS)
    return submitted
  })
  const idleMb = await residentMb(server.url)
  const heap = await heapFigures(server.url)
  progress.show('counting what is stored')
  const stored = await countStored(server.url, 'submitted')
  checkEqual({ sagas, answers: result.answers, stored })
  progress.show('a new server starts')
  await server.child.stop()
  const again = await startServer(harness, database, settings)
  const restarted = await residentPeakMb(again.url, () => pause(IDLE_MS))
  checkEqual({ callsExpected: 0, branchCalls: await branch.callCount() })
  await again.child.stop()
  const figures = {
    'RSS before MB': beforeMb,
    [PEAK]: peakMb,
    'RSS idle MB': idleMb,
    ...heap,
    'bytes/saga': ((idleMb - beforeMb) * 1_000_000) / sagas,
    [RESTARTED_PEAK]: restarted.peakMb,
  }
  return { server, measured: { ...result, figures }, stored }
}
