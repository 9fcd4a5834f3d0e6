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
  if (config.type !== 'mysql') return `nothing to do: a ${config.type} store needs no migration`
  const { url, tls, place, waitMs } = config
  const { migrateMysql } = await import('@counterstep/store-mysql')
  const { from, to } = await waitForStore(
    () => migrateMysql({ url, ...(tls === undefined ? {} : { tls }) }),
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
