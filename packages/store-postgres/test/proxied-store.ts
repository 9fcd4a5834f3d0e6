import { startTcpProxy, type TcpProxy } from '@counterstep/test-servers'
import { openPostgresStore, type PostgresOptions } from '../src/open-postgres-store.ts'
import type { PostgresStore } from '../src/postgres-store.ts'
import { type WireFaults, watchWire } from './wire-faults.ts'

export interface ProxiedStore {
  readonly store: PostgresStore
  readonly proxy: TcpProxy
  readonly wire: WireFaults
  /** The URL that does not lead through the proxy. */
  readonly url: string
}

/** Runs the test with a store behind a network that fails on demand. */
export async function withProxiedStore(
  url: string,
  options: Partial<PostgresOptions>,
  test: (proxied: ProxiedStore) => Promise<void>,
): Promise<void> {
  const { hostname, port } = new URL(url)
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) })
  try {
    const wire = watchWire(proxy)
    const store = await openPostgresStore({ url: proxy.through(url), ...options })
    try {
      await test({ store, proxy, wire, url })
    } finally {
      await store.close()
    }
  } finally {
    await proxy.close()
  }
}

/** Recognises the statement of a flush. */
export function isFlush(sql: string): boolean {
  return sql.includes('counterstep_transactions') && /\((created|SELECT string_agg)/.test(sql)
}
