import { startStoredRelay } from '../bound/start-stored-relay.ts'
import { checkEqual } from '../check-counts.ts'
import { startBranch } from '../harness/branch.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import { startRelay } from '../harness/harness.ts'
import { type RowPlan, runRounds } from '../rounds.ts'
import { ratioOf } from '../row.ts'
import type { Scenario } from '../scenario.ts'
import { openStoreHost, storeFactsOf } from '../stores/open-store-host.ts'
import { relayPlan } from './relay.ts'
import { auditSagas, openSagaBed, sagaPlan } from './saga-bed.ts'
import { sagaJob, timed } from './saga-job.ts'

export const bound: Scenario = {
  name: 'bound',
  summary: 'relay, the relay with the two writes of a saga and nothing else, saga: what is left to gain',
  async run(context) {
    const { harness, settings, progress } = context
    const { branches, connections } = settings
    const host = await openStoreHost(harness, settings.store)
    const relayBranch = await startBranch(harness)
    const relayService = await startRelay(harness, relayBranch.url, branches)
    const storedBranch = await startBranch(harness)
    const stored = await startStoredRelay(harness, await host.newDatabase(), settings)
    const bed = await openSagaBed(context, host, await host.newDatabase())
    const storedPlan: RowPlan = {
      name: 'stored relay',
      workers: [stored.child, storedBranch.child, ...databaseWorker(host)],
      job: {
        ...sagaJob(stored.url, { branchUrl: storedBranch.url, branches }, connections, timed(settings)),
        url: `${stored.url}/stored-relay`,
      },
    }
    const plan = sagaPlan(bed, context, { name: 'saga', connections, branches })
    const rows = await runRounds(context, [relayPlan(relayService, relayBranch, settings), storedPlan, plan])
    const [relayRow, storedRow, sagaRow] = rows
    if (relayRow === undefined || storedRow === undefined || sagaRow === undefined) {
      throw new Error('a row is missing')
    }

    progress.show('counting what is stored')
    const relayCalls = await relayBranch.callCount()
    const storedCalls = await storedBranch.callCount()
    const storedRows = await stored.countFinished()
    checkEqual({ callsExpected: relayRow.answers * branches, relayCalls })
    checkEqual({ callsExpected: storedRow.answers * branches, storedCalls })
    checkEqual({ storedAnswers: storedRow.answers, storedRows })
    return {
      store: storeFactsOf(bed.host, bed.servers[0]),
      rows,
      ratios: [
        ratioOf('bound/relay', storedRow, relayRow),
        ratioOf('saga/relay', sagaRow, relayRow),
        ratioOf('saga/bound', sagaRow, storedRow),
      ],
      counters: { ...(await auditSagas(bed, [plan], [sagaRow])), relayCalls, storedCalls, storedRows },
      notes: [
        'stored relay: the relay, with a create and an update of the store’s own package around its calls; no state machine, no lease renewed, no metrics, nothing checked',
      ],
    }
  },
}
