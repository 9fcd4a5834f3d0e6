/** Checks the workflows of a world. Each violation is named by the invariant that it breaks. */
import {
  type CallKey,
  decodeTransaction,
  needsUndo,
  PLAN,
  type Run,
  type SagaOp,
  type StoredTransaction,
  type TransactionUpdate,
  type WorkflowTransaction,
} from '@counterstep/core'
import { type Gid, isFinalStatus } from '@counterstep/protocol'
import type { SimStore } from '../world/sim-store.ts'
import type { World } from '../world/world.ts'
import type { ServiceState, Services } from './services.ts'

export interface WorkflowViolation {
  readonly invariant: string
  readonly gid: string
  readonly text: string
}

interface Log {
  /** The durable journal, with one text for each entry that an accepted plan has seen. */
  journal: readonly string[]
  /** The steps that the row had when the abort decision was durable first. */
  abortedWith: ReadonlySet<string> | undefined
  hasCodeFailed: boolean
  abortAsked: boolean
  /** The request of each step at its first arrival. */
  readonly requests: Map<string, string>
  isMarked: boolean
}

export class WorkflowAudit {
  readonly violations: WorkflowViolation[] = []
  readonly #world: World
  readonly #logs = new Map<string, Log>()
  #store: SimStore | undefined

  constructor(world: World) {
    this.#world = world
  }

  watch(store: SimStore): void {
    this.#store = store
  }

  log(gid: string): Log {
    const log = this.#logs.get(gid) ?? {
      journal: [],
      abortedWith: undefined,
      hasCodeFailed: false,
      abortAsked: false,
      requests: new Map(),
      isMarked: false,
    }
    this.#logs.set(gid, log)
    return log
  }

  report(invariant: string, gid: string, text: string): void {
    if (this.#world.trace.isOn) this.#world.trace.line(this.#world.now, `!! ${invariant} ${gid}: ${text}`)
    if (this.violations.length < 20) this.violations.push({ invariant, gid, text })
  }

  checkCreate({ gid, kind }: StoredTransaction): void {
    if (kind !== 'workflow') this.report('I2', gid, `it was created as a ${kind}`)
  }

  checkClaim({ gid, status }: StoredTransaction): void {
    if (isFinalStatus(status)) this.report('I3', gid, 'a final workflow was claimed')
  }

  noteTailLoss({ gid }: StoredTransaction): void {
    this.report('I1', gid, 'its last writes were lost, in a world that loses none')
  }

  checkUpdate(before: StoredTransaction, update: TransactionUpdate, row: StoredTransaction): void {
    const { gid } = row
    if (this.#world.trace.isOn)
      this.#world.trace.line(
        this.#world.now,
        `store ${update.hold.type} ${gid} v${row.version} ${row.status} ${row.progress}`,
      )
    if (isFinalStatus(before.status)) this.report('I3', gid, 'a final workflow was written')
    const workflow = readWorkflow(row)
    const log = this.log(gid)
    this.#checkJournal(log, workflow)
    if ('abort' in workflow && workflow.abort !== undefined && log.abortedWith === undefined) {
      log.abortedWith = new Set(workflow.steps.map(({ branch }) => branch.id))
      const { cause } = workflow.abort
      if (cause === 'workflow-failed' && !log.hasCodeFailed)
        this.report('I5', gid, 'aborted for a failure of the code, which never failed')
      if (cause === 'requested' && !log.abortAsked) this.report('I5', gid, 'aborted without a request')
      if (log.isMarked && !hasPivotFailed(workflow))
        this.report('I35', gid, 'aborted after the mark of no return')
    }
    if (workflow.noReturnAt !== undefined) log.isMarked = true
  }

  /** I38: what an accepted plan has seen stays as it is, and stays in its order. */
  #checkJournal(log: Log, { gid, order, plan, steps, branches }: WorkflowTransaction): void {
    const fixed = plan.until === undefined ? Math.min(log.journal.length, order.length) : plan.seen
    const now = order.slice(0, fixed).map((position) => {
      const { state, values, answer } = branches[position]?.action ?? {}
      return JSON.stringify([steps[position]?.id, state, values, answer])
    })
    const isGrown = log.journal.every((entry, index) => now[index] === entry)
    if (!isGrown) this.report('I38', gid, `the journal was ${log.journal.join()} and is ${now.join()}`)
    if (now.length > log.journal.length) log.journal = now
  }

  checkCall({ transaction }: Run, { branch, op }: CallKey): void {
    if (transaction.kind !== 'workflow' || branch === PLAN || op !== 'compensate') return
    const { gid, steps, branches } = transaction
    const row = this.#store?.read(gid)
    const stored = row === undefined ? undefined : readWorkflow(row)
    if (stored === undefined) return
    if (transaction.status === 'submitted') {
      if (stored.branches[branch]?.action.state !== 'failed')
        this.report('I13', gid, `compensation of ${steps[branch]?.id} sent before its failure was durable`)
      return
    }
    if (stored.status !== 'aborting' && !isFinalStatus(stored.status))
      this.report('I13', gid, 'a compensation was sent before the abort decision was durable')
    if (transaction.status !== 'aborting') return
    const rank = steps[branch]?.rank ?? 0
    const later = transaction.abort.branches.find(
      (other) =>
        (steps[other]?.rank ?? 0) > rank &&
        needsUndo(transaction, other) &&
        branches[other]?.compensate.state !== 'succeeded',
    )
    if (later !== undefined)
      this.report(
        'I12',
        gid,
        `${steps[branch]?.id} is undone before ${steps[later]?.id}, which was planned later`,
      )
  }

  /** I37: every step that arrives is in the durable record. I41: none that was planned after the turn ever does. */
  checkArrival(gid: Gid, id: string, op: SagaOp, body: string): void {
    const row = this.#store?.read(gid)
    if (row === undefined) return
    const workflow = readWorkflow(row)
    const log = this.log(gid)
    const step = workflow.steps.find(({ branch }) => branch.id === id)
    if (step === undefined) this.report('I37', gid, `${op} of ${id} arrived, and the record does not have it`)
    if (op === 'action' && log.abortedWith?.has(id) === false)
      this.report('I41', gid, `${id} was called, and was not planned before the turn`)
    if (op === 'action' && step?.branch.role !== undefined && !log.isMarked)
      this.report('I35', gid, `${id} was called before the mark of no return was durable`)
    const key = `${id} ${op}`
    const first = log.requests.get(key) ?? body
    log.requests.set(key, first)
    if (op === 'action' && first !== body) this.report('I30', gid, `${id} got ${body}, before that ${first}`)
  }

  checkEffect(gid: string, id: string, op: SagaOp, state: ServiceState): void {
    if (state[op] > 1) this.report('I7', gid, `${op} of ${id} had its effect twice`)
    if (op === 'action' && state.isCompensated)
      this.report('I8', gid, `${id} had its effect after its compensation`)
    if (op === 'compensate' && state.action === 0)
      this.report('I9', gid, `${id} was undone before it was done`)
  }

  /** I40: every step has its outcome. */
  checkEnd(gid: Gid, services: Services): void {
    const row = this.#store?.read(gid)
    if (row === undefined) return
    if (!isFinalStatus(row.status)) {
      this.report('L1', gid, `still ${row.status} long after the heal: ${row.problem ?? '-'}`)
      return
    }
    const workflow = readWorkflow(row)
    for (const [position, { id, branch, is, local }] of workflow.steps.entries()) {
      if (is !== 'call' && is !== 'step') continue
      const { action, compensate } = services.state(gid, branch.id)
      const { state } = workflow.branches[position]?.action ?? {}
      const effects = `${id}: ${action} action and ${compensate} compensation effects`
      const canUndo =
        branch.compensation !== undefined && (local === undefined || local.hasUndo || state === 'failed')
      if (row.status === 'succeeded' && state === 'succeeded' && (action !== 1 || compensate !== 0))
        this.report('I40', gid, `succeeded, but ${effects}`)
      if (
        row.status === 'succeeded' &&
        state === 'failed' &&
        branch.compensation !== undefined &&
        action !== compensate
      )
        this.report('I40', gid, `succeeded with a failed step, but ${effects}`)
      if (row.status === 'failed' && canUndo && (action !== compensate || action > 1))
        this.report('I40', gid, `failed, but ${effects}`)
    }
    if (row.status === 'succeeded' && workflow.result === undefined)
      this.report('I40', gid, 'succeeded without a result')
  }
}

function readWorkflow(row: StoredTransaction): WorkflowTransaction {
  const transaction = decodeTransaction(row)
  if (transaction.kind !== 'workflow') throw new TypeError(`${row.gid} is no workflow`)
  return transaction
}

function hasPivotFailed({ steps, branches }: WorkflowTransaction): boolean {
  return steps.some(
    ({ branch }, position) => branch.role === 'pivot' && branches[position]?.action.state === 'failed',
  )
}
