import {
  type Clock,
  type DocumentRemovalResult,
  type DocumentWriteResult,
  type Store,
  StoreUnavailableError,
} from '@counterstep/core'
import type { EngineObserver, StoreOutcome, StoreVerb } from './observer.ts'
import { shareNextRun } from './share-next-run.ts'

/** One call may fail because of a locked row. A store that answers no call for this long counts as unavailable. */
const AWAY_AFTER_MS = 500

/** A store whose calls are timed and counted. It knows whether the calls are answered. */
export interface ObservedStore extends Store {
  readonly isAvailable: boolean
  settle(): Promise<void>
  /** Returns the instant by the store's clock, as its last answer told it. It is undefined before the first such answer. */
  readNow(): number | undefined
}

export function observeStore(store: Store, observer: EngineObserver, clock: Clock): ObservedStore {
  /** The instant of the first failure since a call was answered. */
  let failingSince: number | undefined
  /** This is what the clock of the store is ahead of this node's. */
  let aheadMs: number | undefined

  async function observed<T>(
    verb: StoreVerb,
    call: Promise<T>,
    toOutcome?: (result: T) => StoreOutcome,
  ): Promise<T> {
    const startedAt = clock.now()
    try {
      const result = await call
      failingSince = undefined
      const storeNow = readInstant(result)
      if (storeNow !== undefined) aheadMs = storeNow - clock.now()
      observer.storeCalled(verb, toOutcome?.(result) ?? 'ok', clock.now() - startedAt)
      return result
    } catch (error: unknown) {
      if (error instanceof StoreUnavailableError) failingSince ??= clock.now()
      observer.storeCalled(verb, 'unavailable', clock.now() - startedAt)
      throw error
    }
  }

  return {
    name: store.name,
    durabilityClass: store.durabilityClass,
    failover: store.failover,
    capabilities: store.capabilities,
    get isAvailable() {
      return failingSince === undefined || clock.now() - failingSince < AWAY_AFTER_MS
    },
    get isShortOfRoom() {
      return store.isShortOfRoom === true
    },
    get tellsCommands() {
      return store.tellsCommands
    },
    onCommand: (listener) => store.onCommand?.(listener),
    create: (row) => observed('create', store.create(row)),
    readMany: (gids) => observed('read', store.readMany(gids)),
    readNow: () => (aheadMs === undefined ? undefined : Math.floor(clock.now() + aheadMs)),
    settle: shareNextRun(async () => {
      if (store.settle !== undefined) await observed('settle', store.settle())
    }),
    findFinal: (gids) => observed('read', store.findFinal(gids)),
    update: (update) =>
      observed('update', store.update(update), ({ type }) =>
        type === 'saved' ? 'ok' : type === 'conflict' ? 'conflict' : 'fenced',
      ),
    renew: (leases, leaseMs) => observed('renew', store.renew(leases, leaseMs)),
    claimDue: (claim) => observed('claim-due', store.claimDue(claim)),
    claim: (claim) => observed('claim', store.claim(claim)),
    postponeDue: (postponement) => observed('postpone-due', store.postponeDue(postponement)),
    list: (query) => observed('list', store.list(query)),
    stats: () => observed('stats', store.stats()),
    purgeFinished: (limit) => observed('purge', store.purgeFinished(limit)),
    readDocuments: (category) => observed('read-documents', store.readDocuments(category)),
    writeDocument: (write) => observed('write-document', store.writeDocument(write), toDocumentOutcome),
    removeDocument: (removal) =>
      observed('remove-document', store.removeDocument(removal), toDocumentOutcome),
    close: () => store.close(),
  }
}

/** Reads the instant that many answers of a store tell. */
function readInstant(result: unknown): number | undefined {
  const isTold = typeof result === 'object' && result !== null && 'now' in result
  return isTold && typeof result.now === 'number' ? result.now : undefined
}

/** Maps the result of a document call to an outcome. `full` and `absent` count as normal answers. */
function toDocumentOutcome({ type }: DocumentWriteResult | DocumentRemovalResult): StoreOutcome {
  return type === 'conflict' ? 'conflict' : 'ok'
}
