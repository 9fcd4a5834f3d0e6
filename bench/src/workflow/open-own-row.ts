import { checkEqual } from '../check-counts.ts'
import { countStored } from '../harness/count-stored.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import { processPath } from '../harness/paths.ts'
import { type Server, startServer } from '../harness/server.ts'
import type { LoadJob } from '../load/load-job.ts'
import { profileArgs } from '../profile/profile-args.ts'
import type { ScenarioContext } from '../scenario.ts'
import type { Settings } from '../settings.ts'
import type { StoreHost } from '../stores/store-host.ts'
import { auditAccounts, countRows, createAccounts } from './accounts.ts'
import type { OwnPostgres } from './own-postgres.ts'
import type { TransferRow } from './transfer-row.ts'

export interface OwnRow extends TransferRow {
  readonly server: Server
}

export interface OwnRowKind {
  readonly name: 'saga' | 'workflow'
  readonly toJob: (serverUrl: string, servicesUrl: string, settings: Settings) => LoadJob
}

/** Each row has a server, a service and databases of its own, so that all that it did can be counted. */
export async function openOwnRow(
  { harness, settings }: ScenarioContext,
  host: StoreHost,
  postgres: OwnPostgres,
  { name, toJob }: OwnRowKind,
): Promise<OwnRow> {
  const url = await postgres.newDatabase(name)
  await createAccounts(url, settings.accounts)
  const services = harness.start({
    name: 'services',
    script: processPath('move-services'),
    args: [String(settings.accounts)],
    environment: { SERVICES_DATABASE: url },
    nodeArgs: profileArgs(settings),
  })
  const servicesUrl = await services.url()
  const server = await startServer(harness, await host.newDatabase(), settings, ['--accept-new-kinds'])
  return {
    server,
    plan: {
      name,
      job: toJob(server.url, servicesUrl, settings),
      workers: [server.child, services, postgres.worker, ...databaseWorker(host)],
    },
    async audit(transfers) {
      const stored = await countStored(server.url)
      checkEqual({ [`${name}: transfers`]: transfers, stored })
      const moves = await auditAccounts(name, url, { transfers, steps: settings.branches })
      const barrierRows = await countRows(url, 'counterstep_barrier')
      checkEqual({ [`${name}: moves`]: moves, barrierRows })
      return { stored, moves, barrierRows }
    },
  }
}
