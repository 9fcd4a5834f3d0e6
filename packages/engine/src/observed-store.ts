import { type Clock, type Store, StoreUnavailableError } from '@counterstep/core'
import type { EngineObserver, StoreOutcome, StoreVerb } from './observer.ts'

/** A store whose calls are timed and counted, and that remembers whether its last call was answered. */
export interface ObservedStore extends Store {
  readonly isAvailable: boolean
}

export function observeStore(store: Store, observer: EngineObserver, clock: Clock): ObservedStore {
  let isAvailable = true

  async function observed<T>(
    verb: StoreVerb,
    call: Promise<T>,
    outcomeOf?: (result: T) => StoreOutcome,
  ): Promise<T> {
    const startedAt = clock.now()
    try {
      const result = await call
      isAvailable = true
      observer.storeCalled(verb, outcomeOf?.(result) ?? 'ok', clock.now() - startedAt)
      return result
    } catch (error: unknown) {
      if (error instanceof StoreUnavailableError) isAvailable = false
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
      return isAvailable
    },
    create: (row) => observed('create', store.create(row)),
    readMany: (gids) => observed('read', store.readMany(gids)),
    update: (update) =>
      observed('update', store.update(update), ({ type }) =>
        type === 'saved' ? 'ok' : type === 'conflict' ? 'conflict' : 'fenced',
      ),
    renew: (leases, leaseMs) => observed('renew', store.renew(leases, leaseMs)),
    claimDue: (claim) => observed('claim-due', store.claimDue(claim)),
    claim: (claim) => observed('claim', store.claim(claim)),
    list: (query) => observed('list', store.list(query)),
    stats: () => observed('stats', store.stats()),
    purgeFinished: (limit) => observed('purge', store.purgeFinished(limit)),
    close: () => store.close(),
  }
}
