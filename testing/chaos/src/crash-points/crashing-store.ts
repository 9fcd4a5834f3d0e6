import type { Store, StoredTransaction, TransactionUpdate } from '@counterstep/core'
import type { Gid, Status } from '@counterstep/protocol'
import type { CrashSwitch } from './crash-switch.ts'
import type { Step } from './points.ts'

/** The facts of a row beside its status that a write of its own may have brought. */
interface Facts {
  /** How many answers it has kept values of. */
  readonly answersKept: number
  readonly signals: number
  readonly hasMark: boolean
}

const NO_FACTS: Facts = { answersKept: 0, signals: 0, hasMark: false }

/** Reads a record by its own keys: `n` is the mark of no return, and `s` has the signals. */
function readFacts(progress: string): Facts {
  const { n, s = [] } = JSON.parse(progress) as { readonly n?: number; readonly s?: readonly unknown[] }
  return { answersKept: progress.split('"values":').length - 1, signals: s.length, hasMark: n !== undefined }
}

/**
 * Wraps the store, with a crash point before each write is asked for, and one after it is durable but before the caller
 * knows.
 */
export function crashingStore(store: Store, crash: CrashSwitch): Store {
  const statuses = new Map<Gid, Status>()
  const known = new Map<Gid, Facts>()
  const remember = ({ gid, status, progress }: StoredTransaction) => {
    statuses.set(gid, status)
    known.set(gid, readFacts(progress))
  }

  function toStep({ gid, status, hold, progress }: TransactionUpdate): Step {
    const before = statuses.get(gid)
    const factsBefore = known.get(gid) ?? NO_FACTS
    const facts = readFacts(progress)
    statuses.set(gid, status)
    known.set(gid, facts)
    if (facts.signals > factsBefore.signals) return 'signal'
    if (facts.hasMark && !factsBefore.hasMark) return 'mark'
    if (status === 'aborting' && before !== 'aborting') return 'decision'
    if (hold.type !== 'keep') return hold.type
    return facts.answersKept > factsBefore.answersKept ? 'values' : 'checkpoint'
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
    findFinal: (gids) => store.findFinal(gids),
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
