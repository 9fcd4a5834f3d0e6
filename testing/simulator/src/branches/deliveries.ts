/** What arrives at branches: something that was asked for, as it was asked for, and in which order. */
import { CHECK } from '@counterstep/core'
import type { Auditor } from '../audit/auditor.ts'
import type { Plan } from '../clients/plan.ts'
import type { World } from '../world/world.ts'
import type { BranchRequest } from './network.ts'

export class Deliveries {
  readonly #world: World
  readonly #auditor: Auditor
  /** Of each branch, the newest request that has arrived. */
  readonly #newest = new Map<string, number>()
  #sent = 0

  constructor(world: World, auditor: Auditor) {
    this.#world = world
    this.#auditor = auditor
  }

  /** A place in the order of sending. */
  sent(): number {
    return ++this.#sent
  }

  arrived({ plan, call: { branch }, body }: BranchRequest, sequence: number): void {
    const key = `${plan.gid}/${branch}`
    const newest = this.#newest.get(key) ?? 0
    if (sequence < newest) this.#world.counters.reordered++
    else this.#newest.set(key, sequence)
    if (branch === CHECK) return
    const submitted = bodyAsSubmitted(plan, branch)
    if (submitted === body) return
    if (submitted === undefined || isOfAnother(plan, body))
      this.#auditor.report('I2', plan.gid, `branch ${branch} got what was submitted for another: ${body}`)
    else this.#auditor.report('I22', plan.gid, `branch ${branch} got ${body}, submitted was ${submitted}`)
  }
}

function bodyAsSubmitted(plan: Plan, branch: number): string | undefined {
  return targetsOf(plan)[branch]?.body
}

function isOfAnother(plan: Plan, body: string): boolean {
  return targetsOf(plan).some((target) => target.body === body)
}

function targetsOf(plan: Plan): readonly { readonly body: string }[] {
  return plan.kind === 'tcc' ? plan.branches : plan.definition.branches
}
