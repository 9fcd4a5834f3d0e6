import { setTimeout as pause } from 'node:timers/promises'
import type { Branch } from '../../harness/branch.ts'
import { startServer } from '../../harness/server.ts'
import { measure } from '../../rounds.ts'
import type { ScenarioContext } from '../../scenario.ts'
import type { Database, StoreHost } from '../../stores/store-host.ts'
import { type SagaShape, submitJob } from '../saga-job.ts'

/** The server's own default, named since the wait below depends on it. */
const LEASE_MS = 10_000
const LEASE_MARGIN_MS = 200

/**
 * Leaves so many sagas in the database as a crash does: accepted, their first calls sent or about to be, owned by a
 * process that was killed. Returns when their leases have ended, so that all of them are due.
 */
export async function interruptSagas(
  { harness, settings, progress }: ScenarioContext,
  host: StoreHost,
  database: Database,
  branch: Branch,
  shape: SagaShape,
): Promise<void> {
  const { sagas, connections } = settings
  await branch.hold()
  // It holds them all at once, and all at one target, which the defaults do not allow.
  const bounds = ['--in-flight-max', String(sagas + connections), '--target-share', '1']
  const limits = [...bounds, '--lease-ms', String(LEASE_MS)]
  const server = await startServer(harness, database, {}, limits)
  progress.show(`${sagas} sagas are submitted, and their branches hold`)
  const job = submitJob(server.url, shape, connections, { type: 'count', warmUpAnswers: 0, answers: sagas })
  await measure(harness, { name: 'interrupted', job, workers: [] })
  await server.child.kill()
  await branch.release()
  await branch.forget()
  if (host.voidsLeasesAtOpen) return
  progress.show('the server is killed; its leases run out')
  await pause(LEASE_MS + LEASE_MARGIN_MS)
}
