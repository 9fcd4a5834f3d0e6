/**
 * The network from a node to a branch and back. It delays, loses and duplicates
 * requests, loses answers, and delivers some copies very late.
 */
import { assert, type BranchAnswer } from '@counterstep/core'
import type { Op } from '@counterstep/protocol'
import { isForbidden } from '../clients/answers-plan.ts'
import type { Plan } from '../clients/plan.ts'
import { toTccOp } from '../clients/prepared-plan.ts'
import type { SagaPlan } from '../clients/saga-plan.ts'
import { EVENT } from '../world/event-code.ts'
import type { EventOwner } from '../world/heap.ts'
import type { Random } from '../world/random.ts'
import type { World } from '../world/world.ts'
import { BAD_URL, BROKEN } from './branch-answers.ts'
import type { SentRequest } from './call-request.ts'
import type { Deliveries } from './deliveries.ts'
import type { Participants } from './participant.ts'
import type { PreparedParticipants } from './prepared-participant.ts'

const LATE_MS = 25_000

export interface BranchRequest {
  readonly plan: Plan
  /** The call of an orchestrator, or the try of a TCC's client. */
  readonly call: { readonly branch: number; readonly op: Op }
  readonly request: SentRequest
  readonly answered: (answer: BranchAnswer, durationMs: number) => void
}

export class Network {
  readonly #world: World
  readonly #participants: Participants
  readonly #prepared: PreparedParticipants
  readonly #deliveries: Deliveries

  constructor(
    world: World,
    deliveries: Deliveries,
    participants: Participants,
    prepared: PreparedParticipants,
  ) {
    this.#world = world
    this.#deliveries = deliveries
    this.#participants = participants
    this.#prepared = prepared
  }

  /** Returns the value that a branch of a saga answered last. */
  findLastValue({ saga }: SagaPlan, branch: number): string | undefined {
    return this.#participants.branch(saga, branch).value
  }

  /** Sends a request. It is answered exactly once within the branch's time limit, unless the node dies before. */
  send(node: EventOwner, request: BranchRequest): void {
    const world = this.#world
    const { faults } = world
    const random = world.getRandom(request.plan.gid)
    const sentAt = world.now
    const { incarnation } = node
    let isOpen = true
    const end = (answer: BranchAnswer) => {
      if (!isOpen) {
        if (answer.error === undefined) world.counters.lateAnswers++
        return
      }
      isOpen = false
      request.answered(answer, world.now - sentAt)
    }
    if (isForbidden(request.request.url)) {
      world.counters.urlsRefused++
      world.after(1, EVENT.callAnswer, () => end(BAD_URL), node)
      return
    }
    const { timeoutMs } = request.plan.definition
    world.after(timeoutMs, EVENT.callTimeout, () => end({ result: 'unknown', error: 'timeout' }), node)
    const answer = (result: BranchAnswer) => {
      if (random.chance(world.faults.answerLoss)) return
      world.after(this.#delay(random), EVENT.callAnswer, () => end(result), node, incarnation)
    }
    if (!random.chance(faults.requestLoss)) this.#arrive(this.#delay(random), request, answer)
    if (random.chance(faults.duplicates))
      this.#arrive(this.#delay(random) + random.between(0, 50), request, answer)
    if (random.chance(faults.lateDuplicates)) this.#arrive(random.between(200, LATE_MS), request, undefined)
  }

  #arrive(
    delayMs: number,
    request: BranchRequest,
    answer: ((answer: BranchAnswer) => void) | undefined,
  ): void {
    const world = this.#world
    const random = world.getRandom(request.plan.gid)
    const sequence = this.#deliveries.nextSequence()
    world.after(delayMs, EVENT.callArrival, () => {
      this.#deliveries.checkArrival(request, sequence)
      if (random.chance(world.faults.silence)) return
      const slow = world.faults.slowBranchMs
      const work = slow > 0 && random.chance(0.3) ? random.between(1, slow) : random.between(0, 3)
      world.after(work, EVENT.callCommit, () => {
        if (answer === undefined) world.counters.lateArrivals++
        const { branch, op } = request.call
        const result = this.#commit(request)
        if (world.trace.isOn) {
          world.trace.line(world.now, `branch ${request.plan.gid}/${branch} ${op} → ${result.result}`)
        }
        answer?.(result)
      })
    })
  }

  #commit({ plan, call: { branch, op } }: BranchRequest): BranchAnswer {
    if (this.#world.poisoned.has(plan.gid)) {
      this.#world.counters.poisonedCalls++
      return BROKEN
    }
    if (plan.kind !== 'saga') return this.#prepared.commit(plan, branch, toTccOp(plan, op))
    assert(op === 'action' || op === 'compensate', 'a saga has no other ops')
    return this.#participants.commit(plan, branch, op)
  }

  #delay(random: Random): number {
    const { faults } = this.#world
    const slow = faults.slowNetworkMs > 0 && random.chance(0.2) ? random.between(0, faults.slowNetworkMs) : 0
    return random.between(1, 8) + slow
  }
}
