import { checkEqual } from '../check-counts.ts'
import { type Branch, startBranch } from '../harness/branch.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import { timed } from '../load/timed.ts'
import type { RowPlan } from '../rounds.ts'
import type { ScenarioContext } from '../scenario.ts'
import type { StoreHost } from '../stores/store-host.ts'
import { type StoringRelay, startStoringRelay } from '../storing-relay/start-storing-relay.ts'
import { sagaJob } from './saga-job.ts'

/** A storing relay with a database and branches of its own, so that everything it did can be counted. */
export interface StoringBed {
  readonly host: StoreHost
  readonly branch: Branch
  readonly relay: StoringRelay
}

export async function openStoringBed(
  { harness, settings }: ScenarioContext,
  host: StoreHost,
): Promise<StoringBed> {
  const branch = await startBranch(harness)
  return { host, branch, relay: await startStoringRelay(harness, await host.newDatabase(), settings) }
}

/** The same request as a saga's, to the storing relay. */
export function storingPlan(
  { host, branch, relay }: StoringBed,
  { settings }: ScenarioContext,
  { name, connections }: { readonly name: string; readonly connections: number },
): RowPlan {
  const shape = { branchUrl: branch.url, branches: settings.branches }
  return {
    name,
    workers: [relay.child, branch.child, ...databaseWorker(host)],
    job: { ...sagaJob(relay.url, shape, connections, timed(settings)), url: `${relay.url}/sagas` },
  }
}

/** Throws unless each answer was stored, and the branches had a call for each action. */
export async function auditStoring(
  { branch, relay }: StoringBed,
  storingAnswers: number,
  branches: number,
): Promise<{ readonly storingCalls: number; readonly storedByRelay: number }> {
  const storingCalls = await branch.callCount()
  const storedByRelay = await relay.countFinished()
  checkEqual({ callsExpected: storingAnswers * branches, storingCalls })
  checkEqual({ storingAnswers, storedByRelay })
  return { storingCalls, storedByRelay }
}
