import { checkEqual } from '../check-counts.ts'
import { type Branch, startBranch } from '../harness/branch.ts'
import { type Service, startRelay } from '../harness/harness.ts'
import { toTimedLength } from '../load/to-timed-length.ts'
import { type RowPlan, runRounds } from '../rounds.ts'
import type { Scenario } from '../scenario.ts'
import type { Settings } from '../settings.ts'
import { PAYLOAD } from './payload.ts'

export const relay: Scenario = {
  name: 'relay',
  summary: 'one request in, the calls out one after the other, nothing stored: the floor',
  async run(context) {
    const { harness, settings } = context
    const branch = await startBranch(harness)
    const service = await startRelay(harness, branch.url, settings.branches)
    const plan = relayPlan(service, branch, settings)
    const rows = await runRounds(context, [plan])
    const answers = rows.reduce((sum, row) => sum + row.answers, 0)
    const branchCalls = await branch.callCount()
    checkEqual({ callsExpected: answers * settings.branches, branchCalls })
    return { rows, ratios: [], counters: { answers, branchCalls } }
  },
}

export function relayPlan(service: Service, branch: Branch, settings: Settings): RowPlan {
  return {
    name: 'relay',
    workers: [service.child, branch.child],
    job: {
      url: `${service.url}/relay`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(PAYLOAD),
      expectStatus: 200,
      expect: '"ok":true',
      connections: settings.connections,
      length: toTimedLength(settings),
    },
  }
}
