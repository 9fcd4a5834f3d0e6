import { checkEqual } from '../check-counts.ts'
import { countStored } from '../harness/count-stored.ts'
import { type Service, startBranch, startRelay } from '../harness/harness.ts'
import { startServer } from '../harness/server.ts'
import { type RowPlan, ratioOf, runRounds } from '../rounds.ts'
import type { Scenario } from '../scenario.ts'
import type { Settings } from '../settings.ts'
import { PAYLOAD } from './payload.ts'
import { relayPlan } from './relay.ts'

const WAIT_SECONDS = 30

export const saga: Scenario = {
  name: 'saga',
  summary: 'branches that do nothing, in a process of their own; each caller waits for the end',
  async run(context) {
    const { harness, settings, progress } = context
    // Each row has branches of its own, so that their calls can be counted.
    const relayBranch = await startBranch(harness)
    const sagaBranch = await startBranch(harness)
    const relayService = await startRelay(harness, relayBranch.url, settings.branches)
    const server = await startServer(harness, settings)
    const plans = [relayPlan(relayService, relayBranch, settings), sagaPlan(server, sagaBranch, settings)]
    const rows = await runRounds(context, plans)
    const [relayRow, sagaRow] = rows
    if (relayRow === undefined || sagaRow === undefined) throw new Error('a row is missing')

    progress.show('counting what is stored')
    const { answers } = sagaRow
    const stored = await countStored(server.url)
    const branchCalls = await sagaBranch.callCount()
    const relayCalls = await relayBranch.callCount()
    checkEqual({ answers, stored })
    // Nothing failed and nothing was lost, so no call was repeated.
    checkEqual({ callsExpected: answers * settings.branches, branchCalls })
    checkEqual({ callsExpected: relayRow.answers * settings.branches, relayCalls })
    return {
      store: server.store,
      rows,
      ratios: [ratioOf('saga/relay', sagaRow, relayRow)],
      counters: { answers, stored, branchCalls, relayAnswers: relayRow.answers, relayCalls },
    }
  },
}

export function sagaPlan(server: Service, branch: Service, settings: Settings): RowPlan {
  const { branches, connections, warmUpSeconds, seconds } = settings
  const body = {
    branches: Array.from({ length: branches }, (_, index) => ({
      action: `${branch.url}/action-${index + 1}`,
      compensation: `${branch.url}/compensation-${index + 1}`,
      payload: PAYLOAD,
    })),
  }
  return {
    name: 'saga',
    children: [server.child, branch.child],
    job: {
      url: `${server.url}/v1/transactions`,
      headers: { 'content-type': 'application/json', prefer: `wait=${WAIT_SECONDS}` },
      body: JSON.stringify(body),
      // A branch's op has a state, so this can only be the transaction's own.
      expect: '"status":"succeeded"',
      connections,
      warmUpSeconds,
      seconds,
    },
  }
}
