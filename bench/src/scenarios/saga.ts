import { checkEqual } from '../check-counts.ts'
import { startBranch } from '../harness/branch.ts'
import { startRelay } from '../harness/harness.ts'
import { runRounds } from '../rounds.ts'
import { toRatio } from '../row.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { hasOwnRedis, openOwnRedis } from '../stores/open-own-redis.ts'
import { openStoreHost, toStoreFacts } from '../stores/open-store-host.ts'
import type { StoreHost } from '../stores/store-host.ts'
import { relayPlan } from './relay.ts'
import { auditSagas, openSagaFixture, type SagaFixture, type SagaPlan, sagaPlan } from './saga-fixture.ts'

export const saga: Scenario = {
  name: 'saga',
  summary: 'branches that do nothing, in a process of their own; each caller waits for the end',
  async run(context) {
    const { harness, settings, progress } = context
    const { branches, connections } = settings
    // Each row has branches of its own, so that their calls can be counted.
    const relayBranch = await startBranch(harness)
    const relayService = await startRelay(harness, relayBranch.url, branches)
    const [first, ...others] = await openRows(context)
    const sagas = [first, ...others]
    const rows = await runRounds(context, [
      relayPlan(relayService, relayBranch, settings),
      ...sagas.map(({ plan }) => plan),
    ])
    const [relayRow, ...sagaRows] = rows
    if (relayRow === undefined) throw new Error('a row is missing')

    progress.show('counting what is stored')
    const counters = { answers: 0, stored: 0, branchCalls: 0 }
    for (const [index, { fixture, plan }] of sagas.entries()) {
      const row = sagaRows[index]
      const { answers, stored, branchCalls } = await auditSagas(
        fixture,
        [plan],
        row === undefined ? [] : [row],
      )
      counters.answers += answers
      counters.stored += stored
      counters.branchCalls += branchCalls
    }
    const relayCalls = await relayBranch.callCount()
    checkEqual({ callsExpected: relayRow.answers * branches, relayCalls })
    return {
      store: toStoreFacts(first.fixture.host, first.fixture.servers[0]),
      rows,
      ratios: sagaRows.map((row) => toRatio(`${row.name.replace('saga', 'saga/relay')}`, row, relayRow)),
      counters: { ...counters, relayAnswers: relayRow.answers, relayCalls },
      notes: others.map(
        ({ plan, fixture }) =>
          `${plan.name}: a second database of durability class ${fixture.servers[0].store.durabilityClass}; the first is described above (${connections} connections each)`,
      ),
    }
  },
}

interface SagaRow {
  readonly fixture: SagaFixture
  readonly plan: SagaPlan
}

/** A private Redis is measured in both of its ways to be durable. */
async function openRows(context: ScenarioContext): Promise<readonly [SagaRow, ...SagaRow[]]> {
  const { harness, settings } = context
  if (!hasOwnRedis(settings)) {
    return [await openRow(context, await openStoreHost(harness, settings.store), 'saga')]
  }
  const everySecond = await openOwnRedis(harness, 'everysec')
  const always = await openOwnRedis(harness, 'always')
  return [
    await openRow(context, everySecond.host, 'saga'),
    await openRow(context, always.host, 'saga, appendfsync always'),
  ]
}

async function openRow(context: ScenarioContext, host: StoreHost, name: string): Promise<SagaRow> {
  const { branches, connections } = context.settings
  const fixture = await openSagaFixture(context, host, await host.newDatabase())
  return { fixture, plan: sagaPlan(fixture, context, { name, connections, branches }) }
}
