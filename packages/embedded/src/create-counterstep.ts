import { createLogger } from '@counterstep/server/logger'
import { type Counterstep, toCounterstep } from './in-process.ts'
import { checkOptions, openParts } from './open-parts.ts'
import type { CounterstepOptions } from './options.ts'

/** Runs transactions in this process. Its owner starts and closes it. */
export interface OwnCounterstep extends Counterstep, AsyncDisposable {
  /** Takes up what an earlier process left, and runs transactions from then on. Call it once. */
  start(): Promise<void>
  /**
   * Refuses new work, lets branch calls end (8 s at most), gives the transactions that are not final back to the store,
   * and closes what it opened. A second call ends together with the first, and so does the disposal. Rejects with an
   * AggregateError of all that failed to close.
   */
  close(): Promise<void>
}

/**
 * Makes an orchestrator in this process, without any framework: it has no server, no port and no routes.
 *
 * Throws a TypeError or a RangeError for a wrong option. If the store cannot be opened, throws the error of the store.
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
