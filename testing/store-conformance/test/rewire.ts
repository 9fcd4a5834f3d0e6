import type { Store } from '@counterstep/core'

/** Replaces some methods of the store. */
export function rewire(store: Store, change: Partial<Store>): Store {
  const bound: Store = {
    name: store.name,
    durabilityClass: store.durabilityClass,
    failover: store.failover,
    capabilities: store.capabilities,
    create: (transaction) => store.create(transaction),
    readMany: (gids) => store.readMany(gids),
    findFinal: (gids) => store.findFinal(gids),
    update: (update) => store.update(update),
    renew: (leases, leaseMs) => store.renew(leases, leaseMs),
    claimDue: (claim) => store.claimDue(claim),
    claim: (claim) => store.claim(claim),
    postponeDue: (postponement) => store.postponeDue(postponement),
    list: (query) => store.list(query),
    stats: () => store.stats(),
    purgeFinished: (limit) => store.purgeFinished(limit),
    readDocuments: (category) => store.readDocuments(category),
    writeDocument: (write) => store.writeDocument(write),
    removeDocument: (removal) => store.removeDocument(removal),
    close: () => store.close(),
  }
  return { ...bound, ...change }
}
