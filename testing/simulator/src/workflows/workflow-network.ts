/** The network from a node to the handler and the services. It delays, loses, doubles and reorders requests. */
import type { BranchAnswer, CalledOp, SagaOp } from '@counterstep/core'
import type { Gid, PlanCall } from '@counterstep/protocol'
import { BROKEN, FAILURE, SUCCESS } from '../branches/branch-answers.ts'
import { EVENT } from '../world/event-code.ts'
import type { EventOwner } from '../world/heap.ts'
import type { World } from '../world/world.ts'
import { answerPlan, type Program } from './program.ts'
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
  readonly #programs: ReadonlyMap<string, Program>

  constructor(
    world: World,
    audit: WorkflowAudit,
    services: Services,
    programs: ReadonlyMap<string, Program>,
  ) {
    this.#world = world
    this.#audit = audit
    this.#services = services
    this.#programs = programs
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
      const result = op === 'plan' ? this.#plan(request) : this.#commit(gid, id, op as SagaOp, body, isSure)
      if (world.trace.isOn)
        world.trace.line(world.now, `${gid} ${op} ${id} → ${result.result} ${result.body ?? ''}`)
      answer(result)
    })
  }

  #commit(gid: Gid, id: string, op: SagaOp, body: string, isSure: boolean): BranchAnswer {
    this.#audit.checkArrival(gid, id, op, body)
    return this.#services.commit(gid, id, op, isSure)
  }

  /** A gateway answers 409 now and then, and a page of HTML. */
  #plan({ gid, body }: Request): BranchAnswer {
    const { faults } = this.#world
    const random = this.#world.getRandom(gid)
    if (random.chance(faults.flaky)) return random.chance(0.5) ? BROKEN : FAILURE
    if (random.chance(faults.ongoing)) return { ...SUCCESS, body: '<html></html>' }
    const program = this.#programs.get(gid)
    if (program === undefined) return BROKEN
    const { body: plan, fails } = answerPlan(program, JSON.parse(body) as PlanCall)
    if (fails) this.#audit.log(gid).hasCodeFailed = true
    return { ...SUCCESS, body: plan }
  }

  #delayMs(gid: string): number {
    const { faults } = this.#world
    const random = this.#world.getRandom(gid)
    const slow = faults.slowNetworkMs > 0 && random.chance(0.3) ? random.between(0, faults.slowNetworkMs) : 0
    return random.between(1, 8) + slow
  }
}
