/** A workflow for which the test plays the code, the services and the store. */
import type { Gid, JsonValue, PlanCall, Result } from '@counterstep/protocol'
import type { BranchAnswer } from '../src/ports/ports.ts'
import { newTransaction } from '../src/rules/accept.ts'
import type { Command, TransactionEvent } from '../src/rules/events.ts'
import { findOp, PLAN } from '../src/rules/op-progress.ts'
import { RULES } from '../src/rules/rules.ts'
import { acceptedRun, claimedRun, type Run } from '../src/run/run.ts'
import type { RunEffect, RunEvent } from '../src/run/run-events.ts'
import { stepRun } from '../src/run/step-run.ts'
import { parsePlan } from '../src/submission/parse-plan.ts'
import { parseSubmission } from '../src/submission/parse-submission.ts'
import type { SagaOp, Transaction, WorkflowTransaction } from '../src/transaction.ts'
import { buildPlanCall, buildStepRequest } from '../src/values/build-plan-call.ts'
import { GRANT, NODE_START, SETTINGS } from './run-fixture.ts'
import { buildAnswer, buildRow, CREATED_AT, TOKEN } from './sagas.ts'
import { checkUrl, DEFAULTS } from './submissions.ts'

const BASE = {
  kind: 'workflow',
  workflow: 'order',
  handler: 'http://shop.test/workflows',
  input: { sku: 'a' },
}

export function parseWorkflow(body: object = {}, acceptNewKinds = true) {
  return parseSubmission(
    JSON.parse(JSON.stringify({ ...BASE, ...body })),
    { ...DEFAULTS, acceptNewKinds },
    checkUrl,
  )
}

export function startWorkflow(body: object = {}): WorkflowTransaction {
  const parsed = parseWorkflow(body)
  if (parsed.type === 'refused') throw new Error(JSON.stringify(parsed.faults))
  const ids = { gid: 'order-17' as Gid, digest: 'd'.repeat(64) }
  return asWorkflow(newTransaction(parsed.submission, ids, CREATED_AT))
}

export function asWorkflow(transaction: Transaction): WorkflowTransaction {
  if (transaction.kind !== 'workflow') throw new Error(`it is a ${transaction.kind}`)
  return transaction
}

/** The call of a service, with a compensation that uses its own answer. */
export function call(id: string, fields: object = {}) {
  const action = `http://${id}.test/do`
  const compensation = { url: `http://${id}.test/undo`, template: { of: { $from: id, at: '/id' } } }
  return { id, is: 'call', name: action, branch: { action, compensation, ...fields } }
}

export function local(id: string, slot: number, fields: object = {}) {
  return { id, is: 'step', name: id, branch: { slot: `~${slot}`, input: { of: id }, undo: true, ...fields } }
}

/** A local step that the handler has run within the plan call. */
export function ran(id: string, slot: number, fields: object = {}) {
  return { id, is: 'step', name: id, slot: `~${slot}`, undo: true, value: { of: id }, ...fields }
}

export function timer(id: string, ms: number) {
  return { id, is: 'timer', branch: { wait: { ms } } }
}

export function signalWait(id: string, fields: object = {}) {
  return { id, is: 'signal', name: id, branch: { wait: { signal: id, onTimeout: 'continue', ...fields } } }
}

export interface PlanParts {
  readonly ran?: readonly object[]
  readonly next?: readonly object[]
}

export class WorkflowFixture {
  run: Run
  now = NODE_START
  effects: readonly RunEffect[] = []
  saves = 0

  constructor(run: Run) {
    this.run = run
    this.step({ type: 'tick' })
  }

  static accepted(body: object = {}): WorkflowFixture {
    return new WorkflowFixture(acceptedRun(startWorkflow(body), TOKEN, SETTINGS, GRANT))
  }

  /** Another node claims the row as the last save left it. */
  static claimed(transaction: Transaction): WorkflowFixture {
    const row = buildRow(transaction, { sentList: 'unknown' })
    const claim = { type: 'claimed', epoch: transaction.epoch + 1, sentUnknown: true } as const
    const { next } = RULES.fold(transaction, claim, CREATED_AT)
    return new WorkflowFixture(claimedRun(next, row, SETTINGS, GRANT))
  }

  get workflow(): WorkflowTransaction {
    return asWorkflow(this.run.transaction)
  }

  step(event: RunEvent): this {
    const step = stepRun(RULES, this.run, event, this.now)
    this.run = step.run
    this.effects = step.effects
    for (const effect of step.effects) if (effect.type === 'save') this.saves++
    return this
  }

  tick(afterMs = 0): this {
    this.now += afterMs
    return this.step({ type: 'tick' })
  }

  command(command: Command): this {
    return this.step({ type: 'command', command })
  }

  /** Answers the plan call under way, as the engine reads it. */
  plan(parts: PlanParts, outcome: unknown, fields: object = {}): this {
    const { gid, plan, generation } = this.workflow
    const number = generation?.number ?? 1
    const head = { v: 1, gid, version: 1, generation: number, plan: plan.number, ran: [], next: [] }
    return this.planText(
      JSON.stringify({ ...head, ...parts, ...Object.fromEntries([['then', outcome]]), ...fields }),
    )
  }

  planText(body: string | undefined): this {
    const read = parsePlan(this.workflow, body, checkUrl)
    const answer = {
      result: 'success',
      statusCode: 200,
      ...(body === undefined ? {} : { excerpt: body }),
    } as const
    return this.#answer({ branch: PLAN, op: 'plan' }, answer, { plan: read })
  }

  planFails(answer: Pick<BranchAnswer, 'result' | 'statusCode' | 'excerpt'>): this {
    return this.#answer({ branch: PLAN, op: 'plan' }, answer)
  }

  answer(id: string, op: SagaOp, result: Result, body?: JsonValue): this {
    const text = body === undefined ? '' : JSON.stringify(body)
    const answer = { ...buildAnswer(result), ...(result === 'unknown' ? {} : { body: text, excerpt: text }) }
    return this.#answer({ branch: this.positionOf(id), op }, answer)
  }

  #answer(
    call: Extract<TransactionEvent, { readonly type: 'answered' }>['call'],
    answer: Extract<TransactionEvent, { readonly type: 'answered' }>['answer'],
    more: { readonly plan?: ReturnType<typeof parsePlan> } = {},
  ): this {
    const attempt = findOp(this.run.transaction, call)?.attempts ?? 0
    return this.step({ type: 'answered', call, attempt, answer, durationMs: 3, jitter01: 0, ...more })
  }

  /** Tells the run that the save in flight is durable. */
  saved(): this {
    const result = { type: 'saved', version: this.run.version + 1, now: this.storeNow } as const
    return this.step({ type: 'saved', result })
  }

  /** Saves until nothing is left to be saved. */
  settled(): this {
    while (this.isSaving) this.saved()
    return this
  }

  conflict(): this {
    return this.step({ type: 'saved', result: { type: 'conflict', version: this.run.version + 1 } })
  }

  reread(transaction: Transaction): this {
    return this.step({ type: 'reread', row: buildRow(transaction, { version: this.run.version + 1 }) })
  }

  get storeNow(): number {
    return this.now + CREATED_AT - NODE_START
  }

  positionOf(id: string): number {
    return this.workflow.steps.findIndex((step) => step.id === id)
  }

  /** Writes each call of the last step as `charge action`. */
  get calls(): readonly string[] {
    return this.effects.flatMap((effect) => {
      if (effect.type !== 'call') return []
      const { branch, op } = effect.call
      return [
        branch === PLAN ? `plan ${this.workflow.plan.number}` : `${this.workflow.steps[branch]?.id} ${op}`,
      ]
    })
  }

  get isSaving(): boolean {
    return this.run.save !== undefined
  }

  /** The body of the plan call in hand. */
  get planCall(): PlanCall {
    return JSON.parse(this.planBody) as PlanCall
  }

  get planBody(): string {
    return buildPlanCall(this.workflow).body
  }

  headersOf(id: string, op: SagaOp): Readonly<Record<string, string>> {
    return buildStepRequest(this.workflow, this.positionOf(id), op).headers
  }

  requestOf(id: string, op: SagaOp): { readonly url: string; readonly body: JsonValue } {
    const { url, body } = buildStepRequest(this.workflow, this.positionOf(id), op)
    return { url, body: JSON.parse(body) as JsonValue }
  }
}
