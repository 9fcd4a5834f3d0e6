import type { Store, StoredTransaction, TransactionUpdate } from '@counterstep/core'
import type { Gid, Status } from '@counterstep/protocol'
import type { CrashSwitch } from './crash-switch.ts'
import type { Step } from './points.ts'

/**
 * Wraps the store, with a crash point before each write is asked for, and one after it is durable but before the caller
 * knows.
 */
export function crashingStore(store: Store, crash: CrashSwitch): Store {
  const statuses = new Map<Gid, Status>()
  /** How many answers each transaction has kept values of. */
  const kept = new Map<Gid, number>()
  const remember = ({ gid, status }: StoredTransaction) => statuses.set(gid, status)

  function toStep({ gid, status, hold, progress }: TransactionUpdate): Step {
    const before = statuses.get(gid)
    const keptBefore = kept.get(gid) ?? 0
    statuses.set(gid, status)
    kept.set(gid, progress.split('"values":').length - 1)
    if (status === 'aborting' && before !== 'aborting') return 'decision'
    if (hold.type !== 'keep') return hold.type
    return (kept.get(gid) ?? 0) > keptBefore ? 'values' : 'checkpoint'
  }

  return {
    name: store.name,
    durabilityClass: store.durabilityClass,
    failover: store.failover,
    capabilities: store.capabilities,
    create: (transaction) => {
      statuses.set(transaction.gid, transaction.status)
      return crash.around('create', () => store.create(transaction))
    },
    readMany: (gids) => store.readMany(gids),
    update: (update) => crash.around(toStep(update), () => store.update(update)),
    renew: (leases, leaseMs) => crash.around('renew', () => store.renew(leases, leaseMs)),
    claimDue: async (claim) => {
      crash.pass('claim-before')
      const result = await store.claimDue(claim)
      result.claimed.forEach(remember)
      // An idle look leaves nothing behind that a crash could harm.
      if (result.claimed.length > 0) crash.pass('claim-after')
      return result
    },
    claim: (claim) => store.claim(claim),
    // No node of the scenario asks for it.
    postponeDue: (postponement) => store.postponeDue(postponement),
    list: (query) => store.list(query),
    stats: () => store.stats(),
    purgeFinished: (limit) => crash.around('purge', () => store.purgeFinished(limit)),
    readDocuments: (category) => store.readDocuments(category),
    writeDocument: (write) => crash.around('document', () => store.writeDocument(write)),
    removeDocument: (removal) => crash.around('document', () => store.removeDocument(removal)),
    close: () => store.close(),
  }
}
