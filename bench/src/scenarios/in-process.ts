import { checkEqual } from '../check-counts.ts'
import { startBranch } from '../harness/branch.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import { startRelay } from '../harness/harness.ts'
import { processPath } from '../harness/paths.ts'
import { YOUNG_GENERATION } from '../harness/server.ts'
import { toTimedLength } from '../load/to-timed-length.ts'
import { profileArgs } from '../profile/profile-args.ts'
import { runRounds } from '../rounds.ts'
import { toRatio } from '../row.ts'
import type { Scenario } from '../scenario.ts'
import { openStoreHost, toStoreFacts } from '../stores/open-store-host.ts'
import { relayPlan } from './relay.ts'
import { auditSagas, openSagaFixture, sagaPlan } from './saga-fixture.ts'
import { sagaJob } from './saga-job.ts'

export const inProcess: Scenario = {
  name: 'in-process',
  summary: 'sagas whose branches are functions of one process, beside the relay and sagas over HTTP',
  async run(context) {
    const { harness, settings, progress } = context
    const { branches, connections } = settings
    const host = await openStoreHost(harness, settings.store)
    const relayBranch = await startBranch(harness)
    const relayService = await startRelay(harness, relayBranch.url, branches)
    const fixture = await openSagaFixture(context, host, await host.newDatabase())
    const plan = sagaPlan(fixture, context, { name: 'saga', connections, branches })
    const child = harness.start({
      name: 'in-process',
      script: processPath('in-process'),
      args: [String(branches)],
      environment: (await host.newDatabase()).environment,
      nodeArgs: [YOUNG_GENERATION, ...profileArgs(settings)],
    })
    const url = await child.url()
    const rows = await runRounds(context, [
      relayPlan(relayService, relayBranch, settings),
      {
        name: 'in-process',
        workers: [child, ...databaseWorker(host)],
        job: {
          ...sagaJob(url, { branchUrl: 'app:', branches }, connections, toTimedLength(settings)),
          url: `${url}/sagas`,
        },
      },
      plan,
    ])
    const [relayRow, ownRow, sagaRow] = rows
    if (relayRow === undefined || ownRow === undefined || sagaRow === undefined)
      throw new Error('a row is missing')

    progress.show('counting what is stored')
    const relayCalls = await relayBranch.callCount()
    checkEqual({ callsExpected: relayRow.answers * branches, relayCalls })
    const { calls, stored } = await readCounts(url)
    checkEqual({ inProcessAnswers: ownRow.answers, inProcessStored: stored })
    checkEqual({ callsExpected: ownRow.answers * branches, inProcessCalls: calls })
    return {
      store: toStoreFacts(fixture.host, fixture.servers[0]),
      rows,
      ratios: [toRatio('in-process/relay', ownRow, relayRow), toRatio('in-process/saga', ownRow, sagaRow)],
      counters: {
        ...(await auditSagas(fixture, [plan], [sagaRow])),
        relayCalls,
        inProcessCalls: calls,
        inProcessStored: stored,
      },
      notes: [
        'in-process: an app of its own takes the requests, as the relay does; its branches return at once',
      ],
    }
  },
}

async function readCounts(url: string): Promise<{ readonly calls: number; readonly stored: number }> {
  const response = await fetch(`${url}/counts`)
  if (response.status !== 200) throw new Error(`the counts of in-process answered ${response.status}`)
  return (await response.json()) as { readonly calls: number; readonly stored: number }
}
