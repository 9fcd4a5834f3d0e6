import { checkEqual } from '../check-counts.ts'
import { startBranch } from '../harness/branch.ts'
import { startRelay } from '../harness/harness.ts'
import { runRounds } from '../rounds.ts'
import { rowNamed, toRatio } from '../row.ts'
import type { Scenario } from '../scenario.ts'
import { openStoreHost, toStoreFacts } from '../stores/open-store-host.ts'
import { counted } from './counted.ts'
import { relayPlan } from './relay.ts'
import { auditSagas, openSagaFixture, sagaPlan } from './saga-fixture.ts'

const CONNECTIONS = [1, 8, 64, 256]

export const sagaConnections: Scenario = {
  name: 'saga-connections',
  summary: `saga beside the relay with ${CONNECTIONS.join(', ')} connections`,
  // Eight rows within a minute.
  defaults: { seconds: 1, warmUpSeconds: 0.4 },
  async run(context) {
    const { harness, settings, progress } = context
    const { branches } = settings
    const host = await openStoreHost(harness, settings.store)
    const fixture = await openSagaFixture(context, host, await host.newDatabase())
    const relayBranch = await startBranch(harness)
    const relayService = await startRelay(harness, relayBranch.url, branches)
    const relayPlans = CONNECTIONS.map((connections) => ({
      ...relayPlan(relayService, relayBranch, { ...settings, connections }),
      name: `relay, ${counted(connections, 'connection')}`,
    }))
    const sagaPlans = CONNECTIONS.map((connections) =>
      sagaPlan(fixture, context, {
        name: `saga, ${counted(connections, 'connection')}`,
        connections,
        branches,
      }),
    )
    const inTurn = relayPlans.flatMap((plan, index) => [plan, ...sagaPlans.slice(index, index + 1)])
    const rows = await runRounds(context, inTurn)
    const relayRows = relayPlans.map(({ name }) => rowNamed(rows, name))
    const sagaRows = sagaPlans.map(({ name }) => rowNamed(rows, name))
    progress.show('counting what is stored')
    const counters = await auditSagas(fixture, sagaPlans, sagaRows)
    const relayAnswers = relayRows.reduce((sum, row) => sum + row.answers, 0)
    const relayCalls = await relayBranch.callCount()
    checkEqual({ callsExpected: relayAnswers * branches, relayCalls })
    return {
      store: toStoreFacts(host, fixture.servers[0]),
      rows,
      ratios: CONNECTIONS.flatMap((connections, index) => {
        const [saga, relay] = [sagaRows[index], relayRows[index]]
        return saga && relay
          ? [toRatio(`saga/relay, ${counted(connections, 'connection')}`, saga, relay)]
          : []
      }),
      counters: { ...counters, relayAnswers, relayCalls },
    }
  },
}
