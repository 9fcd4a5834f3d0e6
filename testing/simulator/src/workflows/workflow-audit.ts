/** Checks the workflows of a world. Each violation is named by the invariant that it breaks. */
import {
  type CallKey,
  decodeTransaction,
  findAcceptedAt,
  needsUndo,
  PLAN,
  type Run,
  type SagaOp,
  type StoredTransaction,
  type TransactionUpdate,
  type WorkflowTransaction,
} from '@counterstep/core'
import { type Gid, isFinalStatus, type JsonValue, type PlanCall } from '@counterstep/protocol'
import type { SimStore } from '../world/sim-store.ts'
import type { World } from '../world/world.ts'
import { GenerationAudit } from './generation-audit.ts'
import type { ServiceState, Services } from './services.ts'

export interface WorkflowViolation {
  readonly invariant: string
  readonly gid: string
  readonly text: string
}

interface Log {
  readonly generations: GenerationAudit
  /** The durable journal, with one text for each entry that an accepted plan has seen. */
  journal: readonly string[]
  /** The steps that the row had when the abort decision was durable first. */
  abortedWith: ReadonlySet<string> | undefined
  hasCodeFailed: boolean
  abortAsked: boolean
  /** The request of each step at its first arrival. */
  readonly requests: Map<string, string>
  /** The body of each plan call with a grant, by its generation and the number of the plan. */
  readonly planCalls: Map<string, string>
  isMarked: boolean
}

export class WorkflowAudit {
  readonly violations: WorkflowViolation[] = []
  readonly #world: World
  readonly #logs = new Map<string, Log>()
  #store: SimStore | undefined
  #services: Services | undefined

  constructor(world: World) {
    this.#world = world
  }

  watch(store: SimStore, services: Services): void {
    this.#store = store
    this.#services = services
  }

  log(gid: string): Log {
    const log = this.#logs.get(gid) ?? {
      generations: new GenerationAudit((...violation) => this.report(...violation)),
      journal: [],
      abortedWith: undefined,
      hasCodeFailed: false,
      abortAsked: false,
      requests: new Map(),
      planCalls: new Map(),
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
    if (this.#services !== undefined)
      this.#checkGeneration(log, readWorkflow(before), workflow, this.#services)
    this.#checkJournal(log, workflow)
    if ('abort' in workflow && workflow.abort !== undefined && log.abortedWith === undefined) {
      log.abortedWith = new Set(log.generations.steps.keys())
      const { cause, at } = workflow.abort
      if (cause === 'deadline' && at < findAcceptedAt(workflow) + (workflow.definition.deadlineMs ?? 0))
        this.report('I20', gid, 'aborted before its deadline')
      if (cause === 'workflow-failed' && !log.hasCodeFailed)
        this.report('I5', gid, 'aborted for a failure of the code, which never failed')
      if (cause === 'requested' && !log.abortAsked) this.report('I5', gid, 'aborted without a request')
      if (log.isMarked && !hasPivotFailed(workflow))
        this.report('I35', gid, 'aborted after the mark of no return')
    }
    if (workflow.noReturnAt !== undefined) log.isMarked = true
  }

  #checkGeneration(
    log: Log,
    before: WorkflowTransaction,
    workflow: WorkflowTransaction,
    services: Services,
  ): void {
    if (!log.generations.checkUpdate(before, workflow, services)) return
    log.journal = []
    log.isMarked = false
    services.counts.generations++
  }

  /** I38: what an accepted plan has seen stays as it is, and stays in its order. */
  #checkJournal(log: Log, { gid, order, plan, steps, branches }: WorkflowTransaction): void {
    const fixed = plan.until === undefined ? Math.min(log.journal.length, order.length) : plan.seen
    const now = order.slice(0, fixed).map((position) => {
      const { state, values, failure } = branches[position]?.action ?? {}
      return JSON.stringify([steps[position]?.id, state, values, failure])
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
      if (!this.log(gid).generations.failures.has(steps[branch]?.branch.id ?? ''))
        this.report('I13', gid, `compensation of ${steps[branch]?.id} sent before its failure was durable`)
      return
    }
    if (stored.status !== 'aborting' && !isFinalStatus(stored.status))
      this.report('I13', gid, 'a compensation was sent before the abort decision was durable')
    this.#checkSealOrder(transaction, branch)
    if (transaction.status !== 'aborting') return
    if (transaction.plan.call.state === 'calling')
      this.report('I13', gid, `${steps[branch]?.id} is undone while a plan call with a grant is under way`)
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

  /** I12: of the slots that are sealed, one is sealed after those above it. */
  #checkSealOrder({ gid, steps, branches }: WorkflowTransaction, branch: number): void {
    if (steps[branch]?.local?.granted === undefined) return
    const isAbove = (other: number) => {
      const { action, compensate } = branches[other] ?? {}
      const isSealed = steps[other]?.local?.granted !== undefined && action?.state === 'failed'
      return other > branch && isSealed && compensate?.state !== 'succeeded'
    }
    const above = [...steps.keys()].find(isAbove)
    if (above !== undefined)
      this.report('I12', gid, `${steps[branch]?.branch.id} is sealed before ${steps[above]?.branch.id}`)
  }

  /** I38: all calls of a plan with a grant are the same. I39: no code goes on without an answer that was lost. */
  checkPlanCall(gid: Gid, body: string): void {
    const call = JSON.parse(body) as PlanCall
    const { planCalls } = this.log(gid)
    const plan = `${call.generation}.${call.plan}`
    const lost = call.journal.find(
      ({ is, value, failed }) => is === 'call' && (value ?? failed) === undefined,
    )
    if (lost !== undefined)
      this.report('I39', gid, `plan ${plan} is asked for without the answer of ${lost.id}`)
    if (call.grant.count === 0) return
    const first = planCalls.get(plan) ?? body
    planCalls.set(plan, first)
    if (first !== body) this.report('I38', gid, `plan ${plan} was ${first} and is ${body}`)
  }

  /** I37 and I39, at the instant at which a step within a plan call would commit. */
  checkWithin(gid: Gid, { generation }: PlanCall, slot: string, id: string, input: string): void {
    const row = this.#store?.read(gid)
    if (row === undefined) return
    const workflow = readWorkflow(row)
    if (Number(slot.slice(1)) > (workflow.granted ?? 0))
      this.report('I37', gid, `${id} runs under ${slot}, and the record has granted ${workflow.granted ?? 0}`)
    const rows = this.#services?.listSlots(gid) ?? []
    for (const seen of JSON.parse(input) as readonly Seen[]) {
      const isInRow = rows.some(
        ([, { step, value }]) => step?.id === seen.id && JSON.stringify(seen.value) === `{"n":${value}}`,
      )
      const value = seen.failed === undefined ? JSON.stringify(seen.value) : undefined
      if (!isInRow && !this.log(gid).generations.isRecorded(generation, seen.id, value))
        this.report('I39', gid, `${id} is built on ${JSON.stringify(seen)}, which may not stay`)
    }
  }

  /** I37: every step that arrives is in the durable record. I41: none that was planned after the turn ever does. */
  checkArrival(gid: Gid, id: string, op: SagaOp, body: string): void {
    const row = this.#store?.read(gid)
    if (row === undefined) return
    const log = this.log(gid)
    const step = log.generations.steps.get(id)
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
    this.log(gid).generations.checkEnd(gid, services)
    this.#checkSlots(workflow, services)
  }

  /** I38 and I40: no effect stands under a slot of which the record does not tell, and each slot has one step. */
  #checkSlots({ gid, status, steps, branches }: WorkflowTransaction, services: Services): void {
    const { kept } = this.log(gid).generations
    for (const [slot, { step, action, compensate }] of services.listSlots(gid)) {
      const earlier = kept.find(({ branchId }) => branchId === slot)
      if (earlier !== undefined) {
        if (!earlier.hasFailed && earlier.name !== step?.name)
          this.report('I38', gid, `${slot} is ${earlier.name} in the journal, and ${step?.name} in its row`)
        continue
      }
      const position = steps.findIndex(({ branch }) => branch.id === slot)
      const recorded = steps[position]
      if (recorded === undefined && action !== compensate)
        this.report('I40', gid, `${status}, but ${step?.name} has run under ${slot}, and nothing tells of it`)
      // Behind a failure another attempt, by other code, may have run a step of another name. It is undone.
      const hasSucceeded = branches[position]?.action.state === 'succeeded'
      if (hasSucceeded && recorded?.name !== step?.name)
        this.report('I38', gid, `${slot} is ${recorded?.name} in the record, and ${step?.name} in its row`)
    }
  }
}

/** An entry as a program has seen it. */
interface Seen {
  readonly id: string
  readonly value?: JsonValue
  readonly failed?: string
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
