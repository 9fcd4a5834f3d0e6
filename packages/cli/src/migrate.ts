import type { MigrateConfig } from './config.ts'
import { describeFailure } from './start-failure.ts'
import { waitForStore } from './wait-for-store.ts'

export interface MigrateDeps {
  readonly config: MigrateConfig
  readonly signal: AbortSignal
  /** It gets one line for each step on the way. */
  readonly onProgress: (line: string) => void
}

/** Creates or updates the tables, and says in one line what it did. */
export async function migrate({ config, signal, onProgress }: MigrateDeps): Promise<string> {
  if (config.type !== 'mysql' && config.type !== 'postgres')
    return `nothing to do: a ${config.type} store needs no migration`
  const { url, tls, place, waitMs } = config
  const migrateStore = await loadMigration(config.type)
  const { from, to } = await waitForStore(
    () => migrateStore({ url, ...(tls === undefined ? {} : { tls }) }),
    {
      waitMs,
      signal,
      onRetry: (error, waitedMs) =>
        onProgress(`waiting for ${place} (${waitedMs} of ${waitMs} ms): ${describeFailure(error).sentence}`),
    },
  )
  if (from === to) return `schema is up to date (${to})`
  const applied = Array.from({ length: to - from }, (_, index) => from + index + 1)
  return `schema ${applied.join(', ')} applied`
}

async function loadMigration(type: 'mysql' | 'postgres') {
  if (type === 'mysql') return (await import('@counterstep/store-mysql')).migrateMysql
  return (await import('@counterstep/store-postgres')).migratePostgres
}
