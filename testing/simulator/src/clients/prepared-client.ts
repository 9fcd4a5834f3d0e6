/**
 * The common part of the clients of TCCs and of messages. They repeat
 * requests until an answer, view, retry, and may die.
 */
import type { Command } from '@counterstep/core'
import { type Answer, isStatus } from '../nodes/reply.ts'
import { EVENT } from '../world/event-code.ts'
import { type Asking, askNode } from './ask-node.ts'
import type { PreparedPlan } from './prepared-plan.ts'

const PATIENCE_MS = 700
const AGAIN_MS = 60

export class PreparedClient {
  readonly asking: Asking
  readonly #plan: PreparedPlan
  #isDead = false

  constructor(asking: Asking, plan: PreparedPlan) {
    this.asking = asking
    this.#plan = plan
  }

  get isDead(): boolean {
    return this.#isDead
  }

  later(delayMs: number, run: () => void): void {
    this.asking.world.after(delayMs, EVENT.client, () => {
      if (!this.#isDead) run()
    })
  }

  /** Lets the client die with a probability. Its requests are on their way all the same. */
  mayDie(probability: number): boolean {
    const { auditor, gid, world } = this.asking
    if (this.#isDead || !world.getRandom(gid).chance(probability)) return this.#isDead
    this.#isDead = true
    world.counters.clientsDead++
    const log = auditor.log(gid)
    if (!log.isAcknowledged) log.isOrphan = true
    return true
  }

  /** Submits the same content until a node accepts it. */
  prepare(done: () => void): void {
    const { auditor, gid } = this.asking
    const plan = this.#plan
    const log = auditor.log(gid)
    const again = () => {
      if (!log.isAcknowledged) this.prepare(done)
    }
    if (this.mayDie(0.03)) return
    this.#ask(
      (node, reply) => node.submit({ plan, digest: plan.digest, waits: false, reply }),
      (answer) => {
        if (answer === 'conflict') auditor.report('I17', gid, 'the same content was refused')
        if (answer === 'not-accepted') this.later(AGAIN_MS, again)
        else if (!log.isAcknowledged) {
          log.isAcknowledged = true
          done()
        }
      },
    )
    this.later(PATIENCE_MS, again)
  }

  /** Gives a command at most `tries` times, until there is an answer. `done` is called once. */
  command(command: Command, tries: number, done: (answer: Answer | 'none') => void): void {
    const { auditor, gid } = this.asking
    if (command.type === 'abort-asked') auditor.log(gid).abortAsked = true
    if (command.type === 'stop-asked') auditor.log(gid).stopAsked = true
    let isOver = false
    const end = (answer: Answer | 'none') => {
      if (isOver) return
      isOver = true
      done(answer)
    }
    const again = (left: number) => {
      if (isOver) return
      if (left === 0) {
        end('none')
        return
      }
      this.#ask((node, reply) => node.command(gid, command, reply), end)
      this.later(PATIENCE_MS, () => again(left - 1))
    }
    again(tries)
  }

  /** Plays an operator, or a page that shows the transaction. */
  meddle(): void {
    const { world, gid } = this.asking
    const random = world.getRandom(gid)
    const soon = () => random.between(0, 3_000)
    const ignore = () => undefined
    if (random.chance(0.2)) this.later(soon(), () => this.command({ type: 'retry-asked' }, 1, ignore))
    if (random.chance(0.03)) this.later(soon(), () => this.command({ type: 'stop-asked' }, 2, ignore))
    if (random.chance(0.4))
      this.later(soon(), () => this.#ask((node, reply) => node.view(gid, reply), ignore))
  }

  #ask(ask: Parameters<typeof askNode>[1], answered: (answer: Answer) => void): void {
    askNode(this.asking, ask, (answer) => {
      if (isStatus(answer)) this.asking.world.trace.mix(answer.length)
      if (!this.#isDead) answered(answer)
    })
  }
}
