import { checkEqual } from '../check-counts.ts'
import { startBranch } from '../harness/branch.ts'
import { countStored } from '../harness/count-stored.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import { startRelay } from '../harness/harness.ts'
import { startServer } from '../harness/server.ts'
import { type RowPlan, runRounds } from '../rounds.ts'
import { ratioOf } from '../row.ts'
import type { Scenario } from '../scenario.ts'
import { openStoreHost, storeFactsOf } from '../stores/open-store-host.ts'
import { relayPlan } from './relay.ts'
import { sagaJob, timed } from './saga-job.ts'

export const saga: Scenario = {
  name: 'saga',
  summary: 'branches that do nothing, in a process of their own; each caller waits for the end',
  async run(context) {
    const { harness, settings, progress } = context
    const { branches, connections } = settings
    const host = await openStoreHost(harness, settings.store)
    // Each row has branches of its own, so that their calls can be counted.
    const relayBranch = await startBranch(harness)
    const sagaBranch = await startBranch(harness)
    const relayService = await startRelay(harness, relayBranch.url, branches)
    const server = await startServer(harness, await host.newDatabase(), settings)
    const sagaPlan: RowPlan = {
      name: 'saga',
      workers: [server.child, sagaBranch.child, ...databaseWorker(host)],
      job: sagaJob(server.url, { branchUrl: sagaBranch.url, branches }, connections, timed(settings)),
    }
    const rows = await runRounds(context, [relayPlan(relayService, relayBranch, settings), sagaPlan])
    const [relayRow, sagaRow] = rows
    if (relayRow === undefined || sagaRow === undefined) throw new Error('a row is missing')

    progress.show('counting what is stored')
    const { answers } = sagaRow
    const stored = await countStored(server.url)
    const branchCalls = await sagaBranch.callCount()
    const relayCalls = await relayBranch.callCount()
    checkEqual({ answers, stored })
    // Nothing failed and nothing was lost, so no call was repeated.
    checkEqual({ callsExpected: answers * branches, branchCalls })
    checkEqual({ callsExpected: relayRow.answers * branches, relayCalls })
    return {
      store: storeFactsOf(host, server),
      rows,
      ratios: [ratioOf('saga/relay', sagaRow, relayRow)],
      counters: { answers, stored, branchCalls, relayAnswers: relayRow.answers, relayCalls },
    }
  },
}
