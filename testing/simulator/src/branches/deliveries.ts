/**
 * Checks the requests that arrive at branches: each must have the submitted
 * body. It also counts requests that arrive out of order.
 */
import { CHECK, type SagaOp } from '@counterstep/core'
import type { Op } from '@counterstep/protocol'
import type { AuditLog } from '../audit/audit-log.ts'
import type { OperatorAudit } from '../audit/operator-audit.ts'
import type { StagesAudit } from '../audit/stages-audit.ts'
import { findPlanned, type PlannedRequest } from '../audit/usable-values.ts'
import type { ValuesAudit } from '../audit/values-audit.ts'
import type { Plan } from '../clients/plan.ts'
import type { World } from '../world/world.ts'
import type { SentRequest } from './call-request.ts'

/** A request as it arrives at a branch. */
interface ArrivedRequest {
  readonly plan: Plan
  readonly call: { readonly branch: number; readonly op: Op }
  readonly request: SentRequest
}

export class Deliveries {
  readonly #world: World
  readonly #audit: AuditLog
  /** The newest request that has arrived at each branch. */
  readonly #newest = new Map<string, number>()
  readonly #values: ValuesAudit
  readonly #stages: StagesAudit
  readonly #operators: OperatorAudit
  #sent = 0

  constructor(
    world: World,
    audit: AuditLog,
    values: ValuesAudit,
    { stages, operators }: { readonly stages: StagesAudit; readonly operators: OperatorAudit },
  ) {
    this.#world = world
    this.#audit = audit
    this.#values = values
    this.#stages = stages
    this.#operators = operators
  }

  /** Returns the place of a request in the order of sending. */
  nextSequence(): number {
    return ++this.#sent
  }

  checkArrival({ plan, call: { branch, op }, request }: ArrivedRequest, sequence: number): void {
    const key = `${plan.gid}/${branch}`
    const newest = this.#newest.get(key) ?? 0
    if (sequence < newest) this.#world.counters.reordered++
    else this.#newest.set(key, sequence)
    if (branch === CHECK) return
    if (plan.kind === 'saga' && (op === 'action' || op === 'compensate'))
      this.#stages.checkArrival(plan.gid, branch, op)
    const planned = findTemplate(plan, branch, op)
    if (planned !== undefined) {
      this.#values.checkArrival({ gid: plan.gid, branch, op: planned.op }, planned, request)
      return
    }
    const { body } = request
    const submitted = bodyAsSubmitted(plan, branch)
    if (submitted === body || this.#operators.isEdited(plan.gid, branch, op, body)) return
    // A compensation without a content of its own gets that of its action.
    if (op === 'compensate' && this.#operators.isEdited(plan.gid, branch, 'action', body)) return
    if (submitted === undefined || isBodyOfAnother(plan, body))
      this.#audit.report('I2', plan.gid, `branch ${branch} got what was submitted for another: ${body}`)
    else this.#audit.report('I22', plan.gid, `branch ${branch} got ${body}, submitted was ${submitted}`)
  }
}

function findTemplate(
  plan: Plan,
  branch: number,
  op: Op,
): (PlannedRequest & { readonly op: SagaOp }) | undefined {
  if (plan.kind !== 'saga' || (op !== 'action' && op !== 'compensate')) return undefined
  const planned = findPlanned(plan.definition.branches[branch], op)
  return planned === undefined ? undefined : { ...planned, op }
}

function bodyAsSubmitted(plan: Plan, branch: number): string | undefined {
  return listTargets(plan)[branch]?.body
}

function isBodyOfAnother(plan: Plan, body: string): boolean {
  return listTargets(plan).some((target) => target.body === body)
}

function listTargets(plan: Plan): readonly { readonly body: string }[] {
  if (plan.kind === 'recorded') return []
  return plan.kind === 'tcc' ? plan.branches : plan.definition.branches
}
