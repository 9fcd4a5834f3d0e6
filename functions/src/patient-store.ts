import { type Clock, type Store, StoreUnavailableError } from '@counterstep/core'

/** An environment that was frozen finds its connections ended; a new one is there within milliseconds. */
export const PATIENCE_MS = 1_000
const WAIT_MS = 20

/** Asks once more for what the store proves not to have done. What may have been done is left to the engine. */
export async function patiently<T>(
  clock: Clock,
  call: () => Promise<T>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const until = clock.now() + patienceMs
  for (;;) {
    try {
      return await call()
    } catch (error: unknown) {
      if (!(error instanceof StoreUnavailableError) || error.applied !== 'no') throw error
      await new Promise<void>((resolve) => {
        clock.after(WAIT_MS, resolve)
      })
      // It may have been frozen meanwhile: what was asked for then is not done now.
      if (clock.now() >= until) throw error
    }
  }
}

/** A store whose first call after a freeze need not fail. */
export function patientStore(store: Store, clock: Clock): Store {
  return {
    name: store.name,
    durabilityClass: store.durabilityClass,
    failover: store.failover,
    capabilities: store.capabilities,
    create: (row) => patiently(clock, () => store.create(row)),
    readMany: (gids) => patiently(clock, () => store.readMany(gids)),
    update: (update) => patiently(clock, () => store.update(update)),
    renew: (leases, leaseMs) => patiently(clock, () => store.renew(leases, leaseMs)),
    claimDue: (claim) => patiently(clock, () => store.claimDue(claim)),
    claim: (claim) => patiently(clock, () => store.claim(claim)),
    postponeDue: (postponement) => patiently(clock, () => store.postponeDue(postponement)),
    list: (query) => patiently(clock, () => store.list(query)),
    stats: () => patiently(clock, () => store.stats()),
    purgeFinished: (limit) => patiently(clock, () => store.purgeFinished(limit)),
    readDocuments: (category) => patiently(clock, () => store.readDocuments(category)),
    writeDocument: (write) => patiently(clock, () => store.writeDocument(write)),
    removeDocument: (removal) => patiently(clock, () => store.removeDocument(removal)),
    close: () => store.close(),
  }
}
