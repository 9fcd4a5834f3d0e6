/**
 * The sender of a message. It prepares, runs its own database transaction,
 * then submits or aborts. It may die at any point.
 */

import type { MessageLog } from '../audit/prepared-log.ts'
import type { PreparedParticipants } from '../branches/prepared-participant.ts'
import type { Asking } from './ask-node.ts'
import { PreparedClient } from './prepared-client.ts'
import type { MessagePlan } from './prepared-plan.ts'

const COMMAND_TRIES = 6
const DIES = 0.1

export class MessageClient {
  readonly #client: PreparedClient
  readonly #participants: PreparedParticipants
  readonly #plan: MessagePlan
  readonly #log: MessageLog

  constructor(asking: Asking, participants: PreparedParticipants, plan: MessagePlan, log: MessageLog) {
    this.#client = new PreparedClient(asking, plan)
    this.#participants = participants
    this.#plan = plan
    this.#log = log
  }

  start(atMs: number): void {
    this.#client.later(atMs, () =>
      this.#client.prepare(() => {
        this.#client.meddle()
        this.#work()
      }),
    )
  }

  /** Runs the sender's own database transaction, which may last longer than the query-back waits. */
  #work(): void {
    const { check } = this.#plan.definition
    if (check === undefined || this.#client.mayDie(DIES)) return
    const { gid, world } = this.#client.asking
    const random = world.getRandom(gid)
    const longest = random.chance(0.3) ? 3 * check.afterMs : check.afterMs
    this.#client.later(random.between(0, longest), () => {
      if (this.#plan.commits && this.#participants.commitSender(this.#plan)) this.#log.hasCommitted = true
      if (this.#client.mayDie(DIES)) return
      const type = this.#log.hasCommitted ? 'submit-asked' : 'abort-asked'
      this.#client.command({ type }, COMMAND_TRIES, () => undefined)
    })
  }
}
