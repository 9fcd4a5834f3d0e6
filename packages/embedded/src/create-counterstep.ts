import { createLogger } from '@counterstep/server/logger'
import { type Counterstep, toCounterstep } from './in-process.ts'
import { checkOptions, openParts } from './open-parts.ts'
import type { CounterstepOptions } from './options.ts'

/** The orchestrator in this process, with its life. */
export interface OwnCounterstep extends Counterstep, AsyncDisposable {
  /** Takes up what an earlier process left, and runs transactions from then on. Call it once. */
  start(): Promise<void>
  /** Refuses new work, lets branch calls end (8 s at most), gives the rest back to the store, and closes what it opened. */
  close(): Promise<void>
}

/**
 * The orchestrator in this process, without any framework: no server, no port, no routes.
 *
 * Throws a TypeError or a RangeError for an option that makes no sense, and what the store throws when it cannot be opened.
 *
 * @example
 * ```ts
 * import { createCounterstep } from 'counterstep'
 * import { openSqliteStore } from 'counterstep/store/sqlite'
 *
 * const counterstep = await createCounterstep({
 *   store: (onEvent) => openSqliteStore({ path: 'counterstep.db', onEvent }),
 *   targets: { services: { bank: 'https://bank.internal/api' } },
 * })
 * await counterstep.start()
 * const { status } = await counterstep.submit(
 *   { branches: [{ action: 'bank:/debit', compensation: 'bank:/debit', payload: { cents: 1_250 } }] },
 *   { waitMs: 5_000 },
 * )
 * await counterstep.close()
 * ```
 */
export async function createCounterstep(options: CounterstepOptions): Promise<OwnCounterstep> {
  const parts = await openParts(checkOptions({ ...options, logger: options.logger ?? createLogger() }))
  return {
    ...toCounterstep(parts.engine),
    start: () => parts.start(),
    close: () => parts.close(),
    [Symbol.asyncDispose]: () => parts.close(),
  }
}
