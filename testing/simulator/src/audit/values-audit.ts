/**
 * Checks the values in requests. All calls of one op have the same request (I30). A value is one that its producer answered,
 * and it was durable before the request arrived (I31). A compensation has null only for what the record does not know (I32).
 */
import { decodeTransaction, type RequestTemplate, type SagaOp, type ValueReference } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { SagaPlan } from '../clients/saga-plan.ts'
import { listReferences, readValues } from '../clients/values-plan.ts'
import type { SimStore } from '../world/sim-store.ts'
import type { World } from '../world/world.ts'
import type { AuditLog } from './audit-log.ts'

export class ValuesAudit {
  readonly #world: World
  readonly #audit: AuditLog
  readonly #store: SimStore
  /** The first request of each op of each branch that arrived. */
  readonly #first = new Map<string, string>()
  /** The values that each branch has answered with success. */
  readonly #answered = new Map<string, Set<string>>()

  constructor(world: World, audit: AuditLog, store: SimStore) {
    this.#world = world
    this.#audit = audit
    this.#store = store
  }

  noteAnswer(gid: Gid, branch: number, value: string): void {
    const key = `${gid}/${branch}`
    this.#answered.set(key, (this.#answered.get(key) ?? new Set()).add(value))
  }

  checkArrival(
    { gid }: SagaPlan,
    { branch, op }: { readonly branch: number; readonly op: SagaOp },
    template: RequestTemplate,
    body: string,
  ): void {
    const key = `${gid}/${branch}/${op}`
    const first = this.#first.get(key)
    if (first !== undefined) {
      if (first !== body)
        this.#audit.report('I30', gid, `${op} ${branch} got ${body}, and before it ${first}`)
      return
    }
    this.#first.set(key, body)
    const values = readValues(body)
    const references = listReferences(template)
    if (values.length !== references.length)
      this.#audit.report('I22', gid, `${op} ${branch} got ${body}, which was not built from its template`)
    for (const [place, reference] of references.entries())
      this.#checkValue(gid, `${op} ${branch}`, op, reference, values[place] ?? '')
  }

  #checkValue(gid: Gid, what: string, op: SagaOp, { from, value }: ValueReference, text: string): void {
    const row = this.#store.read(gid)
    const stored = row === undefined ? undefined : decodeTransaction(row)
    const action = stored?.kind === 'saga' ? stored.branches[from]?.action : undefined
    const recorded = action?.values?.[value]
    if (text !== 'null') {
      if (this.#answered.get(`${gid}/${from}`)?.has(text) !== true)
        this.#audit.report('I31', gid, `${what} got ${text}, which branch ${from} never answered`)
      else if (recorded !== text)
        this.#audit.report('I31', gid, `${what} got ${text} of ${from}, and ${recorded} was durable`)
      return
    }
    this.#world.counters.valuesMissing++
    if (op === 'action' && recorded !== null)
      this.#audit.report('I31', gid, `${what} got null for a value of ${from} that is ${recorded}`)
    if (op === 'compensate' && action?.state === 'succeeded' && recorded !== null)
      this.#audit.report('I32', gid, `${what} got null for ${recorded} of ${from}, which had succeeded`)
  }
}
