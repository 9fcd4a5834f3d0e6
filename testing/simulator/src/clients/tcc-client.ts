/**
 * The client of a TCC. It prepares, registers and tries each branch, then submits or aborts. It may die at any point.
 */
import type { BranchAnswer } from '@counterstep/core'
import type { TccLog } from '../audit/prepared-log.ts'
import { withBody } from '../branches/call-request.ts'
import type { Network } from '../branches/network.ts'
import { isStatus } from '../nodes/reply.ts'
import type { EventOwner } from '../world/heap.ts'
import type { Asking } from './ask-node.ts'
import { PreparedClient } from './prepared-client.ts'
import type { TccPlan } from './prepared-plan.ts'

const TRIES = 6
const COMMAND_TRIES = 8
const DIES = 0.04
const SELF: EventOwner = { incarnation: 0, pausedUntil: 0 }

export class TccClient {
  readonly #client: PreparedClient
  readonly #network: Network
  readonly #plan: TccPlan
  readonly #log: TccLog

  constructor(asking: Asking, network: Network, plan: TccPlan, log: TccLog) {
    this.#client = new PreparedClient(asking, plan)
    this.#network = network
    this.#plan = plan
    this.#log = log
  }

  start(atMs: number): void {
    this.#client.later(atMs, () =>
      this.#client.prepare(() => {
        this.#client.meddle()
        this.#branch(0)
      }),
    )
  }

  #branch(position: number): void {
    const { gid, world } = this.#client.asking
    const branch = this.#plan.branches[position]
    if (this.#client.mayDie(DIES)) return
    if (branch === undefined) {
      this.#decide()
      return
    }
    this.#client.later(world.getRandom(gid).between(0, 30), () =>
      this.#client.command({ type: 'register-asked', branch }, COMMAND_TRIES, (answer) => {
        if (answer === 'none') this.#abort()
        else if (answer === 'refused') world.counters.registeredTooLate++
        else if (isStatus(answer)) {
          this.#log.registered |= 1 << position
          this.#try(position, TRIES)
        }
      }),
    )
  }

  #try(position: number, tries: number): void {
    if (this.#client.mayDie(DIES)) return
    this.#log.tried |= 1 << position
    const answered = (answer: BranchAnswer) => {
      if (this.#client.isDead) return
      if (answer.result === 'success') this.#branch(position + 1)
      else if (answer.result === 'failure' || tries === 1) this.#abort()
      else this.#client.later(20, () => this.#try(position, tries - 1))
    }
    const call = { branch: position, op: 'try' } as const
    const body = this.#plan.branches[position]?.body ?? ''
    this.#network.send(SELF, { plan: this.#plan, call, request: withBody(body), answered })
  }

  #decide(): void {
    const { gid, world } = this.#client.asking
    const { counters } = world
    const random = world.getRandom(gid)
    if (random.chance(0.1)) {
      this.#abort()
      return
    }
    this.#client.command({ type: 'submit-asked' }, COMMAND_TRIES, (answer) => {
      if (answer === 'refused') counters.submittedTooLate++
    })
    // An abort on another node follows, too late or not.
    if (random.chance(0.25)) this.#client.later(random.between(0, 200), () => this.#abort())
    this.#client.mayDie(DIES)
  }

  #abort(): void {
    this.#client.command({ type: 'abort-asked' }, COMMAND_TRIES, () => undefined)
  }
}
