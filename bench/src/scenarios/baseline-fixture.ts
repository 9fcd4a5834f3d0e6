import { checkEqual } from '../check-counts.ts'
import { type Branch, startBranch } from '../harness/branch.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import { toTimedLength } from '../load/to-timed-length.ts'
import type { RowPlan } from '../rounds.ts'
import type { ScenarioContext } from '../scenario.ts'
import type { StoreHost } from '../stores/store-host.ts'
import {
  startTwoWritesBaseline,
  type TwoWritesBaseline,
} from '../two-writes-baseline/start-two-writes-baseline.ts'
import { sagaJob } from './saga-job.ts'

/** A two-writes baseline with a database and branches of its own, so that everything it did can be counted. */
export interface BaselineFixture {
  readonly host: StoreHost
  readonly branch: Branch
  readonly relay: TwoWritesBaseline
}

export async function openBaselineFixture(
  { harness, settings }: ScenarioContext,
  host: StoreHost,
): Promise<BaselineFixture> {
  const branch = await startBranch(harness)
  return { host, branch, relay: await startTwoWritesBaseline(harness, await host.newDatabase(), settings) }
}

/** The same request as a saga's, to the two-writes baseline. */
export function baselinePlan(
  { host, branch, relay }: BaselineFixture,
  { settings }: ScenarioContext,
  { name, connections }: { readonly name: string; readonly connections: number },
): RowPlan {
  const shape = { branchUrl: branch.url, branches: settings.branches }
  return {
    name,
    workers: [relay.child, branch.child, ...databaseWorker(host)],
    job: { ...sagaJob(relay.url, shape, connections, toTimedLength(settings)), url: `${relay.url}/sagas` },
  }
}

/** Throws unless each answer was stored, and the branches had a call for each action. */
export async function auditBaseline(
  { branch, relay }: BaselineFixture,
  baselineAnswers: number,
  branches: number,
): Promise<{ readonly baselineCalls: number; readonly storedByBaseline: number }> {
  const baselineCalls = await branch.callCount()
  const storedByBaseline = await relay.countFinished()
  checkEqual({ callsExpected: baselineAnswers * branches, baselineCalls })
  checkEqual({ baselineAnswers, storedByBaseline })
  return { baselineCalls, storedByBaseline }
}
