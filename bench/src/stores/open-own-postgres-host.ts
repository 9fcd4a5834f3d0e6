import { startPostgres } from '@counterstep/test-servers'
import type { Harness } from '../harness/harness.ts'
import { postgresHost } from './postgres-host.ts'
import type { StoreHost } from './store-host.ts'

export interface OwnPostgresHost {
  readonly host: StoreHost
  /** The superuser's URL. */
  readonly url: string
}

/** Starts a private server even if the environment names one: its settings may be changed, and its CPU time is ours. */
export async function openOwnPostgresHost(harness: Harness): Promise<OwnPostgresHost> {
  const server = await startPostgres()
  const { url } = server
  const host = await postgresHost({ url, pid: () => server.pid(), end: () => server.stop() })
  harness.atEnd(() => host.close())
  return { host, url }
}
