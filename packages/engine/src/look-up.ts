import { READ_MANY_MAX, type Store, StoreUnavailableError } from '@counterstep/core'
import { isFinalStatus, type TransactionView } from '@counterstep/protocol'
import type { EngineObserver } from './observer.ts'
import { viewRow } from './view-row.ts'
import type { LookUp } from './waiters.ts'

/** Returns a function that reads final views. A store that is down delays the answer, but does not fail the wait. */
export function createLookUp(store: Store, observer: EngineObserver): LookUp {
  return async function lookUp(gids) {
    const final: TransactionView[] = []
    try {
      for (let from = 0; from < gids.length; from += READ_MANY_MAX) {
        const rows = await store.readMany(gids.slice(from, from + READ_MANY_MAX))
        for (const row of rows) if (isFinalStatus(row.status)) final.push(viewRow(row))
      }
    } catch (error: unknown) {
      // A bug ends this read, not the process. The waits end by their own time limits.
      const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
      observer.event({ level, name: 'look-up-failed', error })
    }
    return final
  }
}
