import { checkEqual } from '../check-counts.ts'
import { type Branch, startBranch } from '../harness/branch.ts'
import { countStored } from '../harness/count-stored.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import { type Metrics, readMetrics, timesBetween } from '../harness/metrics.ts'
import { type Server, startServer } from '../harness/server.ts'
import { toTimedLength } from '../load/to-timed-length.ts'
import { type RowPlan, runRounds } from '../rounds.ts'
import { divideSpreads, type Ratio, type Row } from '../row.ts'
import type { Scenario } from '../scenario.ts'
import type { Settings } from '../settings.ts'
import type { CommitCounts } from '../stores/commit-counter.ts'
import { type CountedHost, openCountedHost } from '../stores/open-counted-host.ts'
import { toStoreFacts } from '../stores/open-store-host.ts'
import { sagaJob } from './saga-job.ts'

const BRANCHES = [1, 2, 5, 20]
const FLUSH_DELAYS_US = [0, 3_000]
const COMMITS = 'commits/saga'

export const commits: Scenario = {
  name: 'commits',
  summary:
    'database transactions and flushes of one saga, as it is and with slowed flushes, by number of branches',
  defaults: { store: 'mariadb', rounds: 1 },
  async run(context) {
    const { harness, settings, progress } = context
    const counted = await openCountedHost(harness, settings.store)
    const { host } = counted
    const branch = await startBranch(harness)
    const server = await startServer(harness, await host.newDatabase(), settings)
    const plans = FLUSH_DELAYS_US.flatMap((delayUs) =>
      BRANCHES.map((branches) => makePlan({ server, branch, counted, settings }, branches, delayUs)),
    )
    const rows = await runRounds(context, plans)
    progress.show('counting what is stored')
    const answers = rows.reduce((sum, row) => sum + row.answers, 0)
    const callsExpected = plans.reduce(
      (sum, plan, index) => sum + (rows[index]?.answers ?? 0) * plan.branches,
      0,
    )
    const stored = await countStored(server.url)
    const branchCalls = await branch.callCount()
    checkEqual({ answers, stored })
    checkEqual({ callsExpected, branchCalls })
    return {
      store: toStoreFacts(host, server),
      rows,
      ratios: FLUSH_DELAYS_US.map((delayUs) => manyToFew(plans, rows, delayUs)),
      counters: { answers, stored, branchCalls },
      notes: [
        `${COMMITS}: database transactions of the store a saga, by the database’s own counter; groups: those written to its log together; fsyncs: InnoDB's own; writes: rows created or updated`,
      ],
    }
  },
}

interface Fixture {
  readonly server: Server
  readonly branch: Branch
  readonly counted: CountedHost
  readonly settings: Settings
}

interface CommitsPlan extends RowPlan {
  readonly branches: number
  readonly delayUs: number
}

function makePlan(
  { server, branch, counted, settings }: Fixture,
  branches: number,
  delayUs: number,
): CommitsPlan {
  const flush = delayUs === 0 ? '' : `, flush slowed to ${delayUs / 1000} ms`
  return {
    name: `${branches} branches${flush}`,
    branches,
    delayUs,
    job: sagaJob(
      server.url,
      { branchUrl: branch.url, branches },
      settings.connections,
      toTimedLength(settings),
    ),
    workers: [server.child, branch.child, ...databaseWorker(counted.host)],
    watch: async () => {
      await counted.slowFlushes(delayUs)
      const [commitsBefore, metricsBefore] = [await counted.readCommits(), await readMetrics(server.url)]
      return async (answers) => ({
        ...commitFigures(commitsBefore, await counted.readCommits(), answers),
        'writes/saga': writesBetween(metricsBefore, await readMetrics(server.url)) / answers,
      })
    },
  }
}

/** Rows that the server asked its store to write: creates and updates. */
function writesBetween(before: Metrics, after: Metrics): number {
  const readCount = (verb: string) =>
    timesBetween(before, after, 'counterstep_store_call_duration_seconds', { verb }).count
  return readCount('create') + readCount('update')
}

function commitFigures(
  before: CommitCounts,
  after: CommitCounts,
  sagas: number,
): Readonly<Record<string, number>> {
  const perSaga = (from: number | undefined, to: number | undefined) =>
    from === undefined || to === undefined ? undefined : (to - from) / sagas
  const groups = perSaga(before.groups, after.groups)
  const fsyncs = perSaga(before.fsyncs, after.fsyncs)
  return {
    [COMMITS]: (after.commits - before.commits) / sagas,
    ...(groups === undefined ? {} : { 'groups/saga': groups }),
    ...(fsyncs === undefined ? {} : { 'fsyncs/saga': fsyncs }),
  }
}

/** Compares the commits of many branches with those of two. */
function manyToFew(plans: readonly CommitsPlan[], rows: readonly Row[], delayUs: number): Ratio {
  const findCommits = (branches: number) => {
    const index = plans.findIndex((plan) => plan.branches === branches && plan.delayUs === delayUs)
    const spread = rows[index]?.figures[COMMITS]
    if (spread === undefined) throw new Error(`${branches} branches were not measured`)
    return spread
  }
  const flush = delayUs === 0 ? '' : `, ${delayUs / 1000} ms flush`
  return { name: `commits 20/2 branches${flush}`, spread: divideSpreads(findCommits(20), findCommits(2)) }
}
