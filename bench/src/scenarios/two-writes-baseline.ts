import { checkEqual } from '../check-counts.ts'
import { startBranch } from '../harness/branch.ts'
import { startRelay } from '../harness/harness.ts'
import { runRounds } from '../rounds.ts'
import { toRatio } from '../row.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { hasOwnRedis, openOwnRedis } from '../stores/open-own-redis.ts'
import { openStoreHost, toStoreFacts } from '../stores/open-store-host.ts'
import type { StoreHost } from '../stores/store-host.ts'
import { auditBaseline, baselinePlan, openBaselineFixture } from './baseline-fixture.ts'
import { relayPlan } from './relay.ts'
import { auditSagas, openSagaFixture, sagaPlan } from './saga-fixture.ts'

export const twoWritesBaseline: Scenario = {
  name: 'two-writes-baseline',
  summary:
    'relay; the relay with the two writes of a saga and nothing else; saga: what the writes alone cost',
  async run(context) {
    const { harness, settings, progress } = context
    const { branches, connections } = settings
    const host = await openHost(context)
    const relayBranch = await startBranch(harness)
    const relayService = await startRelay(harness, relayBranch.url, branches)
    const baseline = await openBaselineFixture(context, host)
    const fixture = await openSagaFixture(context, host, await host.newDatabase())
    const plan = sagaPlan(fixture, context, { name: 'saga', connections, branches })
    const rows = await runRounds(context, [
      relayPlan(relayService, relayBranch, settings),
      baselinePlan(baseline, context, { name: 'two-writes baseline', connections }),
      plan,
    ])
    const [relayRow, baselineRow, sagaRow] = rows
    if (relayRow === undefined || baselineRow === undefined || sagaRow === undefined) {
      throw new Error('a row is missing')
    }

    progress.show('counting what is stored')
    const relayCalls = await relayBranch.callCount()
    checkEqual({ callsExpected: relayRow.answers * branches, relayCalls })
    return {
      store: toStoreFacts(fixture.host, fixture.servers[0]),
      rows,
      ratios: [
        toRatio('baseline/relay', baselineRow, relayRow),
        toRatio('saga/relay', sagaRow, relayRow),
        toRatio('saga/baseline', sagaRow, baselineRow),
      ],
      counters: {
        ...(await auditSagas(fixture, [plan], [sagaRow])),
        relayCalls,
        ...(await auditBaseline(baseline, baselineRow.answers, branches)),
      },
      notes: [
        'two-writes baseline: the relay, with a create and an update of the store’s own package around its calls, of texts as long as a saga’s; no state machine, no lease renewed, no metrics, nothing checked. Not the fastest possible, as the relay is not',
      ],
    }
  },
}

/** A private Redis is flushed each second, as it is for the headline of `saga`. */
async function openHost({ harness, settings }: ScenarioContext): Promise<StoreHost> {
  if (!hasOwnRedis(settings)) return openStoreHost(harness, settings.store)
  const { host } = await openOwnRedis(harness, 'everysec')
  return host
}
