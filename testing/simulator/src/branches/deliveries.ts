/**
 * Checks the requests that arrive at branches: each must have the submitted
 * body. It also counts requests that arrive out of order.
 */
import { CHECK } from '@counterstep/core'
import type { Auditor } from '../audit/auditor.ts'
import type { Plan } from '../clients/plan.ts'
import type { World } from '../world/world.ts'
import type { BranchRequest } from './network.ts'

export class Deliveries {
  readonly #world: World
  readonly #auditor: Auditor
  /** The newest request that has arrived at each branch. */
  readonly #newest = new Map<string, number>()
  #sent = 0

  constructor(world: World, auditor: Auditor) {
    this.#world = world
    this.#auditor = auditor
  }

  /** Returns the place of a request in the order of sending. */
  nextSequence(): number {
    return ++this.#sent
  }

  checkArrival({ plan, call: { branch }, body }: BranchRequest, sequence: number): void {
    const key = `${plan.gid}/${branch}`
    const newest = this.#newest.get(key) ?? 0
    if (sequence < newest) this.#world.counters.reordered++
    else this.#newest.set(key, sequence)
    if (branch === CHECK) return
    const submitted = bodyAsSubmitted(plan, branch)
    if (submitted === body) return
    if (submitted === undefined || isBodyOfAnother(plan, body))
      this.#auditor.report('I2', plan.gid, `branch ${branch} got what was submitted for another: ${body}`)
    else this.#auditor.report('I22', plan.gid, `branch ${branch} got ${body}, submitted was ${submitted}`)
  }
}

function bodyAsSubmitted(plan: Plan, branch: number): string | undefined {
  return listTargets(plan)[branch]?.body
}

function isBodyOfAnother(plan: Plan, body: string): boolean {
  return listTargets(plan).some((target) => target.body === body)
}

function listTargets(plan: Plan): readonly { readonly body: string }[] {
  return plan.kind === 'tcc' ? plan.branches : plan.definition.branches
}
