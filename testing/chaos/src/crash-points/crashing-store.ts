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
  readonly workflow: WorkflowFacts | undefined
}

/** The facts of a workflow, whose first plan is opened by its accept. */
interface WorkflowFacts {
  readonly generation: number
  readonly plan: number
  readonly steps: number
  readonly granted: number
  /** Slots whose seal has been answered. */
  readonly sealed: number
}

/** The parts of a record that are read here, by its own keys. */
interface ReadRecord {
  /** The mark of no return. */
  readonly n?: number
  /** The signals. */
  readonly s?: readonly unknown[]
  readonly b?: readonly ({ readonly c?: { readonly state?: string } } | null)[]
  readonly w?: {
    readonly plan: { readonly number: number }
    readonly generation?: { readonly number: number }
    readonly steps: readonly { readonly local?: { readonly granted?: string } }[]
    readonly granted?: number
  }
}

const NO_FACTS: Facts = { answersKept: 0, signals: 0, hasMark: false, workflow: undefined }

function readFacts(progress: string): Facts {
  const record = JSON.parse(progress) as ReadRecord
  return {
    answersKept: progress.split('"values":').length - 1,
    signals: record.s?.length ?? 0,
    hasMark: record.n !== undefined,
    workflow: readWorkflowFacts(record),
  }
}

function readWorkflowFacts({ w, b = [] }: ReadRecord): WorkflowFacts | undefined {
  if (w === undefined) return undefined
  const isSealed = (position: number) =>
    w.steps[position]?.local?.granted === 'may-have-run' && b[position]?.c?.state === 'succeeded'
  return {
    generation: w.generation?.number ?? 1,
    plan: w.plan.number,
    steps: w.steps.filter(({ local }) => local?.granted !== 'may-have-run').length,
    granted: w.granted ?? 0,
    sealed: [...w.steps.keys()].filter(isSealed).length,
  }
}

/** Names a write of a workflow by the most that it brings. Returns undefined for one that only keeps what was answered. */
function toWorkflowStep(
  now: WorkflowFacts,
  // The accept has opened the first plan, and granted its slots.
  before: WorkflowFacts = { ...now, generation: 1, plan: 1, steps: 0, sealed: 0 },
): Step | undefined {
  if (now.generation > before.generation) return 'continue'
  if (now.steps > before.steps) return 'plan-answer'
  if (now.granted > before.granted) return 'grant'
  if (now.sealed > before.sealed) return 'seal'
  return now.plan > before.plan ? 'plan-open' : undefined
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
    const isWorkflow = facts.workflow !== undefined
    if (status === 'aborting' && before !== 'aborting') return isWorkflow ? 'workflow-abort' : 'decision'
    if (hold.type === 'finish' && isWorkflow) return 'workflow-end'
    const ofWorkflow = facts.workflow && toWorkflowStep(facts.workflow, factsBefore.workflow)
    if (ofWorkflow !== undefined) return ofWorkflow
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
    settle: async () => store.settle?.(),
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
