/** The network from a node to the handler and the services. It delays, loses, doubles and reorders requests. */
import type { BranchAnswer, CalledOp, SagaOp } from '@counterstep/core'
import type { Gid, JsonValue } from '@counterstep/protocol'
import { BROKEN, FAILURE } from '../branches/branch-answers.ts'
import { EVENT } from '../world/event-code.ts'
import type { EventOwner } from '../world/heap.ts'
import type { World } from '../world/world.ts'
import type { PlanHandler } from './plan-handler.ts'
import type { Services } from './services.ts'
import type { WorkflowAudit } from './workflow-audit.ts'

interface Request {
  readonly gid: Gid
  readonly op: CalledOp
  readonly id: string
  readonly body: string
  readonly isSure: boolean
}

const LATE_MS = 15_000

export class WorkflowNetwork {
  readonly #world: World
  readonly #audit: WorkflowAudit
  readonly #services: Services
  readonly #handler: PlanHandler

  constructor(world: World, audit: WorkflowAudit, services: Services, handler: PlanHandler) {
    this.#world = world
    this.#audit = audit
    this.#services = services
    this.#handler = handler
  }

  send(
    node: EventOwner,
    request: Request,
    timeoutMs: number,
    answered: (answer: BranchAnswer, durationMs: number) => void,
  ): void {
    const world = this.#world
    const { faults } = world
    const random = world.getRandom(request.gid)
    const sentAt = world.now
    const { incarnation } = node
    let isOpen = true
    const end = (answer: BranchAnswer) => {
      if (!isOpen) return
      isOpen = false
      answered(answer, world.now - sentAt)
    }
    world.after(timeoutMs, EVENT.callTimeout, () => end({ result: 'unknown', error: 'timeout' }), node)
    const answer = (result: BranchAnswer) => {
      if (random.chance(faults.answerLoss)) return
      world.after(this.#delayMs(request.gid), EVENT.callAnswer, () => end(result), node, incarnation)
    }
    if (!random.chance(faults.requestLoss)) this.#arrive(this.#delayMs(request.gid), request, answer)
    if (random.chance(faults.duplicates))
      this.#arrive(this.#delayMs(request.gid) + random.between(0, 50), request, answer)
    if (random.chance(faults.lateDuplicates))
      this.#arrive(random.between(100, LATE_MS), request, () => undefined)
  }

  #arrive(delayMs: number, request: Request, answer: (answer: BranchAnswer) => void): void {
    const world = this.#world
    const { gid, op, id, body, isSure } = request
    world.after(delayMs, EVENT.callArrival, () => {
      const answered = (result: BranchAnswer) => {
        if (world.trace.isOn)
          world.trace.line(world.now, `${gid} ${op} ${id} → ${result.result} ${result.body ?? ''}`)
        answer(result)
      }
      if (op === 'plan') {
        this.#audit.checkPlanCall(gid, body)
        this.#handler.plan(gid, body, answered)
      } else answered(this.#commit(gid, id, op as SagaOp, body, isSure))
    })
  }

  #commit(gid: Gid, id: string, op: SagaOp, body: string, isSure: boolean): BranchAnswer {
    this.#audit.checkArrival(gid, id, op, body)
    if (op === 'compensate' && id.startsWith('~')) this.#countSeal(gid, id, body)
    const outcome = this.#services.commit(gid, id, op, isSure, readLocal(id, op, body))
    if (outcome.type === 'answered') return outcome.answer
    return outcome.code === 'ALREADY_COMPENSATED' ? FAILURE : BROKEN
  }

  /** The call of a slot of which the record does not tell names no step. */
  #countSeal(gid: Gid, id: string, body: string): void {
    if (body.includes('"step":')) return
    const { counts } = this.#services
    if (this.#services.state(gid, id).step === undefined) counts.sealedEmpty++
    else counts.sealedUntold++
  }

  #delayMs(gid: string): number {
    const { faults } = this.#world
    const random = this.#world.getRandom(gid)
    const slow = faults.slowNetworkMs > 0 && random.chance(0.3) ? random.between(0, faults.slowNetworkMs) : 0
    return random.between(1, 8) + slow
  }
}

function readLocal(id: string, op: SagaOp, body: string) {
  if (op !== 'action' || !id.startsWith('~')) return undefined
  const { step, input } = JSON.parse(body) as { readonly step: string; readonly input: JsonValue }
  return {
    step: { id: step.replace(/new$/, ''), name: step, input: JSON.stringify(input) },
    checksName: true,
  }
}
