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
  /** Its answer may be too large to be kept. It has no role, so an operator can still abort. */
  readonly mayBeLarge: boolean
}

const LATE_MS = 15_000
/** In this share of the worlds services give answers that are too large, and in them this share of the answers is. */
const LARGE_WORLDS = 0.1
const LARGE_ANSWERS = 0.3

export class WorkflowNetwork {
  readonly #world: World
  readonly #audit: WorkflowAudit
  readonly #services: Services
  readonly #handler: PlanHandler
  readonly #hasLargeAnswers: boolean

  constructor(world: World, audit: WorkflowAudit, services: Services, handler: PlanHandler) {
    this.#world = world
    this.#audit = audit
    this.#services = services
    this.#handler = handler
    this.#hasLargeAnswers = world.getRandom('large').chance(LARGE_WORLDS)
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
    const { gid, op, id, body } = request
    world.after(delayMs, EVENT.callArrival, () => {
      const answered = (result: BranchAnswer) => {
        if (world.trace.isOn)
          world.trace.line(world.now, `${gid} ${op} ${id} → ${result.result} ${result.body ?? ''}`)
        answer(result)
      }
      if (op === 'plan') {
        this.#audit.checkPlanCall(gid, body)
        this.#handler.plan(gid, body, answered)
      } else answered(this.#commit(request, op as SagaOp))
    })
  }

  #commit({ gid, id, body, isSure, mayBeLarge }: Request, op: SagaOp): BranchAnswer {
    this.#audit.checkArrival(gid, id, op, body)
    if (op === 'compensate' && id.startsWith('~')) this.#countSeal(gid, id, body)
    const outcome = this.#services.commit(gid, id, op, isSure, readLocal(id, op, body))
    if (outcome.type === 'answered')
      return op === 'action' && mayBeLarge ? this.#enlarge(gid, outcome.answer) : outcome.answer
    return outcome.code === 'ALREADY_COMPENSATED' ? FAILURE : BROKEN
  }

  /** A success whose body is over its bound comes without the body. */
  #enlarge(gid: Gid, answer: BranchAnswer): BranchAnswer {
    const isLarge = this.#hasLargeAnswers && this.#world.getRandom(`large ${gid}`).chance(LARGE_ANSWERS)
    if (!isLarge || answer.result !== 'success') return answer
    this.#services.counts.large++
    const { body: _, ...rest } = answer
    return rest
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
