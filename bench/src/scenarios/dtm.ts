import { freePort } from '@counterstep/test-servers'
import { checkEqual } from '../check-counts.ts'
import { startBranch } from '../harness/branch.ts'
import { countStored } from '../harness/count-stored.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import { startRelay } from '../harness/harness.ts'
import { type Measurement, measure, measureInTurn, type RowSource } from '../rounds.ts'
import { type Ratio, type Row, rowNamed, toRatio } from '../row.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { toStoreFacts } from '../stores/open-store-host.ts'
import { speaksDtm } from './dtm/dtm-job.ts'
import { DtmRow, toGrpcName } from './dtm/dtm-row.ts'
import { openOwnSide } from './dtm/open-own-side.ts'
import { openDtmPeer } from './dtm/peer/open-dtm-peer.ts'
import { withStoreCpu } from './dtm/store-cpu.ts'
import { relayPlan } from './relay.ts'
import { openSagaFixture, type SagaFixture, sagaPlan } from './saga-fixture.ts'

const NATIVE = 'counterstep'
const DIALECT = 'dialect'

export const dtm: Scenario = {
  name: 'dtm',
  summary:
    'the same sagas in DTM’s dialect over HTTP and gRPC, beside our own API and the relay; with --peers beside DTM itself, with --target URL beside any server that speaks the dialect',
  defaults: { seconds: 2 },
  async run(context) {
    const { harness, settings, progress } = context
    const { branches } = settings
    const targets = await readTargets(settings.target)
    const relayBranch = await startBranch(harness)
    const relayService = await startRelay(harness, relayBranch.url, branches)
    const relay = relayPlan(relayService, relayBranch, settings)
    const host = await openOwnSide(context)
    // The dialect is off by default when the system chooses the server's port, so it gets ports here.
    const [dtmPort, grpcPort] = [await freePort(), await freePort()]
    const options = [
      ...['--dtm-port', String(dtmPort), '--dtm-grpc-port', String(grpcPort)],
      // Servers of the version before do not know branches over gRPC.
      '--accept-new-kinds',
    ]
    const fixture = await openSagaFixture(context, host, await host.newDatabase(), { options })
    const [server] = fixture.servers
    const dialect = await DtmRow.openAll(context, {
      name: DIALECT,
      url: `http://127.0.0.1:${dtmPort}`,
      grpcAddress: `127.0.0.1:${grpcPort}`,
      workers: [server.child, ...databaseWorker(host)],
    })
    const theirs: DtmRow[] = []
    for (const [index, url] of targets.entries()) {
      const name = targets.length === 1 ? 'dtm' : `dtm ${index + 1}`
      theirs.push(...(await DtmRow.openAll(context, { name, url, workers: [unknownWorker(name)] })))
    }
    const peer = settings.peers ? await openDtmPeer(context) : { rows: [], notes: [] }
    theirs.push(...peer.rows)
    const rows = await measureInTurn(context, [
      { name: relay.name, measure: () => measure(harness, relay) },
      nativeRow(context, fixture),
      ...dialect,
      ...theirs,
    ])
    progress.show('counting what is stored')
    const counters: Record<string, number> = {}
    for (const row of [...dialect, ...theirs]) {
      for (const [name, count] of Object.entries(await row.audit())) counters[`${row.name} ${name}`] = count
    }
    const native = rowNamed(rows, NATIVE).answers
    const dialectAnswers = dialect.reduce((sum, { answers }) => sum + answers, 0)
    const stored = await countStored(server.url)
    const branchCalls = await fixture.branch.callCount()
    const relayCalls = await relayBranch.callCount()
    checkEqual({ answers: native + dialectAnswers, stored })
    checkEqual({ callsExpected: native * branches, branchCalls })
    checkEqual({ callsExpected: rowNamed(rows, relay.name).answers * branches, relayCalls })
    return {
      store: toStoreFacts(host, server),
      rows,
      ratios: toRatios(rows, theirs),
      counters: { ...counters, answers: native, stored, branchCalls, relayCalls },
      notes: [
        ...peer.notes,
        ...targets.map((url, index) => `${targets.length === 1 ? 'dtm' : `dtm ${index + 1}`}: ${url}`),
        'every row but the relay sends a gid of its own with each request, made by the same driver; over gRPC the callers share four connections, and the branches are called over gRPC, too',
        ...(targets.length === 0
          ? []
          : [
              'the store above is our own server’s; what a target stores on, and what survives there, is not known here',
            ]),
      ],
    }
  },
}

async function readTargets(given = ''): Promise<readonly string[]> {
  const targets = given
    .split(',')
    .filter((url) => url !== '')
    .map((url) => url.replace(/\/$/, ''))
  for (const target of targets) {
    if (!(await speaksDtm(target))) throw new Error(`${target} does not speak DTM’s dialect`)
  }
  return targets
}

function unknownWorker(name: string) {
  return { name, cpuSeconds: () => undefined }
}

/** The same saga in our own words. */
function nativeRow(context: ScenarioContext, fixture: SagaFixture): RowSource {
  const { harness, settings } = context
  const { branches, connections } = settings
  let round = 0
  return {
    name: NATIVE,
    measure: async (): Promise<Measurement> => {
      round += 1
      const gid = `native-${round}`
      const plan = sagaPlan(fixture, context, { name: NATIVE, connections, branches, gid })
      const measured = await measure(harness, { ...plan, job: { ...plan.job, unique: gid } })
      return withStoreCpu(measured, plan.workers)
    },
  }
}

/** Ours above theirs, over HTTP and over gRPC, and all above the relay. */
function toRatios(rows: readonly Row[], theirs: readonly DtmRow[]): readonly Ratio[] {
  const [relay, ...others] = rows
  if (relay === undefined) throw new Error('the relay was not measured')
  const above = (our: string, name: string, their: string) =>
    toRatio(name, rowNamed(rows, our), rowNamed(rows, their))
  return [
    ...theirs.flatMap(({ name, isGrpc, server }) =>
      isGrpc
        ? [above(toGrpcName(DIALECT), toGrpcName(`${DIALECT}/${server.name}`), name)]
        : [above(DIALECT, `${DIALECT}/${name}`, name), above(NATIVE, `${NATIVE}/${name}`, name)],
    ),
    ...others.map((row) => toRatio(`${row.name}/relay`, row, relay)),
  ]
}
