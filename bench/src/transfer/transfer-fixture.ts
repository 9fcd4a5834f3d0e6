import type { Child } from '../harness/child.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import { processPath } from '../harness/paths.ts'
import { type Server, startServer } from '../harness/server.ts'
import { profileArgs } from '../profile/profile-args.ts'
import type { Worker } from '../rounds.ts'
import type { ScenarioContext } from '../scenario.ts'
import { openStoreHost } from '../stores/open-store-host.ts'
import { SqlLink } from '../stores/sql-link.ts'
import type { Database, StoreHost } from '../stores/store-host.ts'
import {
  startTwoWritesBaseline,
  type TwoWritesBaseline,
} from '../two-writes-baseline/start-two-writes-baseline.ts'
import { type BankName, createBank } from './bank-tables.ts'

/** All that works in a transfer: one database server for the bank and for the orchestrator, as in the seeds. */
export interface TransferFixture {
  readonly host: StoreHost
  /** Tells a process where the bank is; the URL may hold a password. */
  readonly environment: Readonly<Record<string, string>>
  /** The connection to the bank's database. */
  readonly link: SqlLink
  /** The number in each of its tables. */
  readonly accounts: number
  readonly server: Server
  readonly twoWritesBaseline: TwoWritesBaseline
  /** Both services are one process, as both of the seeds' were. */
  readonly services: Child
  readonly gateway: Child
  readonly gatewayUrl: string
  readonly database: readonly Worker[]
}

export async function openTransferFixture(
  { harness, settings, progress }: ScenarioContext,
  names: readonly BankName[],
): Promise<TransferFixture> {
  const { store, accounts } = settings
  if (store === 'sqlite' || store === 'redis')
    throw new Error(`transfers need a MySQL or a MariaDB, not ${store}: their services are on it too`)
  const host = await openStoreHost(harness, store)
  const server = await startServer(harness, await host.newDatabase(), settings)
  const bankUrl = readStoreUrl(await host.newDatabase())
  const link = await SqlLink.open(bankUrl)
  harness.atEnd(() => link.close())
  await createBank(link, { names, accounts }, (tables) =>
    progress.show(`accounts: ${tables} of ${names.length} tables`),
  )

  const nodeArgs = profileArgs(settings)
  const environment = { BANK_DATABASE: bankUrl }
  const services = harness.start({
    name: 'services',
    script: processPath('bank-services'),
    environment,
    nodeArgs,
  })
  const twoWritesBaseline = await startTwoWritesBaseline(harness, await host.newDatabase(), settings)
  const args = [await services.url(), twoWritesBaseline.url, server.url, String(accounts)]
  const gateway = harness.start({ name: 'gateway', script: processPath('bank-gateway'), args, nodeArgs })
  const gatewayUrl = await gateway.url()
  return {
    host,
    environment,
    link,
    accounts,
    server,
    twoWritesBaseline,
    services,
    gateway,
    gatewayUrl,
    database: databaseWorker(host),
  }
}

/** The environment of a server names it. */
export function readStoreUrl({ environment }: Database): string {
  const { COUNTERSTEP_STORE: url } = environment
  if (url === undefined) throw new Error('this database has no URL')
  return url
}
