import { freePort } from '@counterstep/test-servers'
import { checkEqual } from '../check-counts.ts'
import { startBranch } from '../harness/branch.ts'
import { countStored } from '../harness/count-stored.ts'
import { startRelay } from '../harness/harness.ts'
import { type Measurement, measure, measureInTurn, type RowSource } from '../rounds.ts'
import { type Ratio, type Row, toRatio } from '../row.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { openStoreHost, toStoreFacts } from '../stores/open-store-host.ts'
import { speaksDtm } from './dtm/dtm-job.ts'
import { DtmRow } from './dtm/dtm-row.ts'
import { relayPlan } from './relay.ts'
import { openSagaFixture, type SagaFixture, sagaPlan } from './saga-fixture.ts'

const NATIVE = 'counterstep'
const DIALECT = 'counterstep, DTM’s dialect'

export const dtm: Scenario = {
  name: 'dtm',
  summary: 'the same sagas in DTM’s dialect against any --target URL, beside the relay and our own server',
  defaults: { seconds: 2 },
  async run(context) {
    const { harness, settings, progress } = context
    const { branches } = settings
    const targets = await readTargets(settings.target)
    const relayBranch = await startBranch(harness)
    const relayService = await startRelay(harness, relayBranch.url, branches)
    const relay = relayPlan(relayService, relayBranch, settings)
    const host = await openStoreHost(harness, settings.store)
    // The dialect is off by default when the system chooses the server's port, so it gets a port here.
    const dtmPort = await freePort()
    const options = ['--dtm-port', String(dtmPort)]
    const fixture = await openSagaFixture(context, host, await host.newDatabase(), { options })
    const [server] = fixture.servers
    const dialectUrl = `http://127.0.0.1:${dtmPort}`
    const dialect = (await speaksDtm(dialectUrl))
      ? [await DtmRow.open(DIALECT, context, dialectUrl, server.child)]
      : []
    if (dialect.length + targets.length === 0) {
      throw new Error('our own server does not speak DTM’s dialect; name another one by --target URL')
    }
    const theirs: DtmRow[] = []
    for (const [index, target] of targets.entries()) {
      const name = targets.length === 1 ? 'dtm' : `dtm ${index + 1}`
      theirs.push(await DtmRow.open(name, context, target))
    }
    const native = nativeRow(context, fixture)
    const rows = await measureInTurn(context, [
      { name: relay.name, measure: () => measure(harness, relay) },
      native,
      ...dialect,
      ...theirs,
    ])
    progress.show('counting what is stored')
    const [relayRow, nativeAnswered] = rows
    const answers = { relay: relayRow?.answers ?? 0, native: nativeAnswered?.answers ?? 0 }
    const counters: Record<string, number> = {}
    for (const row of [...dialect, ...theirs]) {
      for (const [name, count] of Object.entries(await row.audit())) counters[`${row.name} ${name}`] = count
    }
    const dialectAnswers = rows.find(({ name }) => name === DIALECT)?.answers ?? 0
    const stored = await countStored(server.url)
    const branchCalls = await fixture.branch.callCount()
    const relayCalls = await relayBranch.callCount()
    checkEqual({ answers: answers.native + dialectAnswers, stored })
    checkEqual({ callsExpected: answers.native * branches, branchCalls })
    checkEqual({ callsExpected: answers.relay * branches, relayCalls })
    return {
      store: toStoreFacts(host, server),
      rows,
      ratios: toRatios(rows, theirs),
      counters: { ...counters, answers: answers.native, stored, branchCalls, relayCalls },
      notes: [
        ...theirs.map(({ name, target }) => `${name}: ${target}`),
        'every row but the relay sends a gid of its own with each request, made by the same driver',
        'the store above is our own server’s; what a target stores on, and what survives there, is not known here',
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
      return await measure(harness, { ...plan, job: { ...plan.job, unique: gid } })
    },
  }
}

function toRatios(rows: readonly Row[], theirs: readonly DtmRow[]): readonly Ratio[] {
  const [relay, ...others] = rows
  if (relay === undefined) throw new Error('the relay was not measured')
  const ours = others.filter(({ name }) => name === NATIVE || name === DIALECT)
  return [
    ...theirs.flatMap(({ name }) => {
      const their = others.find((row) => row.name === name)
      return their === undefined ? [] : ours.map((our) => toRatio(`${our.name}/${name}`, our, their))
    }),
    ...others.map((row) => toRatio(`${row.name}/relay`, row, relay)),
  ]
}
