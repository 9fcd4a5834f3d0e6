import { checkEqual } from '../check-counts.ts'
import { type Branch, startBranch } from '../harness/branch.ts'
import { countStored } from '../harness/count-stored.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import { type Server, startServer } from '../harness/server.ts'
import { toTimedLength } from '../load/to-timed-length.ts'
import { type Measured, measure, toRow } from '../rounds.ts'
import { divideSpreads, type Row, toFigures } from '../row.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { toSpread } from '../spread.ts'
import { openStoreHost, toStoreFacts } from '../stores/open-store-host.ts'
import type { StoreHost } from '../stores/store-host.ts'
import { watchEnd } from '../watch-end.ts'
import { interruptSagas } from './recover/interrupt.ts'
import { type RecoveryFigures, recoveryFigures } from './recover/recovery-figures.ts'
import { type SagaShape, sagaJob } from './saga-job.ts'

/** Longer than a round, so that no call that is held times out. */
const BRANCH_TIMEOUT_MS = 120_000
/** Fresh sagas are measured with so many times the connections, too: the best counts. */
const MORE_CONNECTIONS = 4

export const recover: Scenario = {
  name: 'recover',
  summary: 'interrupted sagas in the store at start: rate of recovery against the rate of fresh ones',
  defaults: { rounds: 1 },
  async run(context) {
    const { harness, settings } = context
    const host = await openStoreHost(harness, settings.store)
    const branch = await startBranch(harness)
    const rounds: Round[] = []
    for (let round = 1; round <= settings.rounds; round += 1)
      rounds.push(await runRound(context, host, branch))
    const [first] = rounds
    if (first === undefined) throw new Error('there was no round')
    const fresh = first.fresh.map(({ name }, index) =>
      toRow(
        name,
        rounds.flatMap((round) => round.fresh[index]?.measured ?? []),
      ),
    )
    const recovered = recoveredRow(
      rounds.map(({ recovery }) => recovery),
      settings.sagas,
    )
    const bestFresh = toSpread(rounds.map((round) => Math.max(...round.fresh.map(readRate))))
    return {
      store: toStoreFacts(host, first.server),
      rows: [recovered, ...fresh],
      ratios: [{ name: 'recover/fresh', spread: divideSpreads(recovered.perSecond, bestFresh) }],
      counters: sumOfCounters(rounds.map(({ counters }) => counters)),
      notes: [
        `recover: from the first branch call of a new server until the last of ${settings.sagas} was final; all were due before it started`,
        'recover/fresh: against the faster of the fresh rows, on the same server after the recovery',
      ],
    }
  },
}

interface Fresh {
  readonly name: string
  readonly measured: Measured
}

interface Round {
  readonly server: Server
  readonly recovery: RecoveryFigures
  readonly fresh: readonly Fresh[]
  readonly counters: Readonly<Record<string, number>>
}

async function runRound(context: ScenarioContext, host: StoreHost, branch: Branch): Promise<Round> {
  const { harness, settings, progress } = context
  const { sagas, branches } = settings
  const shape = { branchUrl: branch.url, branches, timeoutMs: BRANCH_TIMEOUT_MS }
  const database = await host.newDatabase()
  await interruptSagas(context, host, database, branch, shape)

  progress.show('a new server starts')
  const startedAt = Date.now()
  const server = await startServer(harness, database, settings)
  const calls = sagas * branches
  const ended = await watchEnd(server, branch, { sagas, calls }, (count) =>
    progress.show(`recovering: ${count} of ${calls} branch calls`),
  )
  const { calls: recoveryCalls } = await branch.forget()
  const recovery = recoveryFigures(ended, startedAt, sagas)

  const fresh: Fresh[] = []
  for (const connections of [settings.connections, settings.connections * MORE_CONNECTIONS]) {
    fresh.push(await measureFresh(context, host, server, branch, shape, connections))
  }
  progress.show('counting what is stored')
  const freshAnswers = fresh.reduce((sum, { measured }) => sum + measured.answers, 0)
  const stored = await countStored(server.url)
  const freshCalls = await branch.callCount()
  checkEqual({ expected: sagas + freshAnswers, stored })
  checkEqual({ callsExpected: freshAnswers * branches, freshCalls })
  await server.child.stop()
  return {
    server,
    recovery,
    fresh,
    counters: { stored, freshAnswers, freshCalls, recoveryCalls, repeatedCalls: recoveryCalls - calls },
  }
}

async function measureFresh(
  { harness, settings, progress }: ScenarioContext,
  host: StoreHost,
  server: Server,
  branch: Branch,
  shape: SagaShape,
  connections: number,
): Promise<Fresh> {
  const name = `fresh, ${connections} callers`
  progress.show(name)
  const job = sagaJob(server.url, shape, connections, toTimedLength(settings))
  const workers = [server.child, branch.child, ...databaseWorker(host)]
  return { name, measured: await measure(harness, { name, job, workers }) }
}

function readRate({ measured }: Fresh): number {
  return measured.answersPerSecond
}

function recoveredRow(rounds: readonly RecoveryFigures[], sagas: number): Row {
  return {
    name: 'recover',
    perSecond: toSpread(rounds.map(({ perSecond }) => perSecond)),
    p50Ms: null,
    p99Ms: null,
    cpuUs: null,
    answers: rounds.length * sagas,
    figures: toFigures(rounds.map(({ figures }) => figures)),
  }
}

function sumOfCounters(
  rounds: readonly Readonly<Record<string, number>>[],
): Readonly<Record<string, number>> {
  const sums = new Map<string, number>()
  for (const counters of rounds) {
    for (const [name, count] of Object.entries(counters)) sums.set(name, (sums.get(name) ?? 0) + count)
  }
  return Object.fromEntries(sums)
}
