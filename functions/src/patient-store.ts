import { type Clock, type Store, StoreUnavailableError } from '@counterstep/core'

/** The connections of an environment may have ended while it was frozen. A new one takes some milliseconds. */
export const PATIENCE_MS = 1_000
const WAIT_MS = 20

/**
 * Repeats a call if the store proves that it was not done. If it may have been done, the error goes to the engine, which
 * decides.
 */
export async function callPatiently<T>(
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
      // The environment may have been frozen while it waited. A call of an earlier invocation must not be done now.
      if (clock.now() >= until) throw error
    }
  }
}

/** Wraps a store so that the first call after a freeze does not fail. */
export function makePatient(store: Store, clock: Clock): Store {
  return {
    name: store.name,
    durabilityClass: store.durabilityClass,
    failover: store.failover,
    capabilities: store.capabilities,
    create: (row) => callPatiently(clock, () => store.create(row)),
    readMany: (gids) => callPatiently(clock, () => store.readMany(gids)),
    settle: () => callPatiently(clock, async () => store.settle?.()),
    findFinal: (gids) => callPatiently(clock, () => store.findFinal(gids)),
    update: (update) => callPatiently(clock, () => store.update(update)),
    renew: (leases, leaseMs) => callPatiently(clock, () => store.renew(leases, leaseMs)),
    claimDue: (claim) => callPatiently(clock, () => store.claimDue(claim)),
    claim: (claim) => callPatiently(clock, () => store.claim(claim)),
    postponeDue: (postponement) => callPatiently(clock, () => store.postponeDue(postponement)),
    list: (query) => callPatiently(clock, () => store.list(query)),
    stats: () => callPatiently(clock, () => store.stats()),
    purgeFinished: (limit) => callPatiently(clock, () => store.purgeFinished(limit)),
    readDocuments: (category) => callPatiently(clock, () => store.readDocuments(category)),
    writeDocument: (write) => callPatiently(clock, () => store.writeDocument(write)),
    removeDocument: (removal) => callPatiently(clock, () => store.removeDocument(removal)),
    close: () => store.close(),
  }
}
