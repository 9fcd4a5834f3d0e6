import { startBranch } from '../../harness/branch.ts'
import type { ScenarioContext } from '../../scenario.ts'
import type { StoreHost } from '../../stores/store-host.ts'
import { newTable } from '../flat/open-tables.ts'
import { openSagaFixture, type SagaFixture } from '../saga-fixture.ts'

const SHARING_MAX = 4

/** A server on a database of its own, beside so many finished transactions in it. */
export async function openFullFixture(
  context: ScenarioContext,
  host: StoreHost,
  finished: number,
): Promise<SagaFixture> {
  if (finished === 0) return await openSagaFixture(context, host, await host.newDatabase())
  const { harness, settings, progress } = context
  // The branches of that one transaction count for no row.
  const branch = await startBranch(harness)
  const database = await newTable({ harness, progress }, host, {
    branchUrl: branch.url,
    branches: settings.branches,
  })
  await database.copyFinished(finished - 1, (count) =>
    progress.show(`${count} of ${finished} finished transactions are made`),
  )
  return await openSagaFixture(context, host, database)
}

/** Some stores are one process's alone. */
export async function openSharedFixture(
  context: ScenarioContext,
  host: StoreHost,
): Promise<{ readonly fixture: SagaFixture; readonly processes: readonly number[] }> {
  const isShared = !host.voidsLeasesAtOpen
  const fixture = await openSagaFixture(context, host, await host.newDatabase(), {
    processes: isShared ? SHARING_MAX : 1,
  })
  return { fixture, processes: isShared ? [1, 2, SHARING_MAX] : [1] }
}

/** One server of so many processes on one port. */
export async function openProcesses(
  context: ScenarioContext,
  host: StoreHost,
  count: number,
): Promise<SagaFixture> {
  const options = ['--processes', String(count)]
  return await openSagaFixture(context, host, await host.newDatabase(), { options })
}
