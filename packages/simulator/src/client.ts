/** Someone who wants a saga done: submits until it is told that it is accepted, then asks, aborts, nudges, stops. */
import type { Command } from '@counterstep/core'
import { type Answer, type Ask, askNode } from './ask-node.ts'
import type { Auditor } from './auditor.ts'
import { EVENT } from './event-code.ts'
import type { Node } from './node.ts'
import type { SagaPlan } from './saga-plan.ts'
import type { World } from './world.ts'

const PATIENCE_MS = 700
const SUBMIT_AGAIN_MS = 60
const OTHER_CONTENT = 'f'.repeat(64)

export class Client {
  readonly #world: World
  readonly #auditor: Auditor
  readonly #nodes: readonly Node[]
  readonly #plan: SagaPlan
  readonly #waits: boolean
  #tries = 0

  constructor(world: World, auditor: Auditor, nodes: readonly Node[], plan: SagaPlan) {
    this.#world = world
    this.#auditor = auditor
    this.#nodes = nodes
    this.#plan = plan
    this.#waits = world.random.chance(0.3)
  }

  start(atMs: number): void {
    this.#world.after(atMs, EVENT.client, () => this.#submit())
  }

  get #isAcknowledged(): boolean {
    return this.#auditor.log(this.#plan.gid).isAcknowledged
  }

  /** The same gid, to whichever node answers. */
  #submit(): void {
    if (this.#isAcknowledged) return
    if (this.#tries++ > 0) this.#world.counters.resubmits++
    const plan = this.#plan
    this.#ask(
      (node, reply) => node.submit(plan, plan.digest, this.#waits, reply),
      (answer) => {
        if (answer === 'conflict') this.#auditor.report('I17', plan.gid, 'the same content was refused')
        if (answer === 'not-accepted') this.#world.after(SUBMIT_AGAIN_MS, EVENT.client, () => this.#submit())
        else if (!this.#isAcknowledged) this.#acknowledged()
      },
    )
    this.#world.after(PATIENCE_MS, EVENT.client, () => this.#submit())
  }

  #acknowledged(): void {
    const { random } = this.#world
    this.#auditor.log(this.#plan.gid).isAcknowledged = true
    if (this.#world.trace.isOn)
      this.#world.trace.line(this.#world.now, `client ${this.#plan.gid} acknowledged`)
    const soon = () => (random.chance(0.7) ? random.between(0, 300) : random.between(0, 4_000))
    if (random.chance(0.3)) this.#later(soon(), () => this.#command({ type: 'abort-asked' }, 2))
    if (random.chance(0.1)) this.#later(soon(), () => this.#command({ type: 'abort-asked' }, 1))
    if (random.chance(0.3)) this.#later(soon(), () => this.#command({ type: 'retry-asked' }, 2))
    if (random.chance(0.2)) this.#later(soon(), () => this.#command({ type: 'retry-asked' }, 1))
    if (random.chance(0.03)) this.#later(soon(), () => this.#command({ type: 'stop-asked' }, 2))
    if (random.chance(0.1)) this.#later(soon(), () => this.#submitOther())
    if (random.chance(0.5)) this.#later(soon(), () => this.#view(random.between(1, 3)))
  }

  #later(delayMs: number, run: () => void): void {
    this.#world.after(delayMs, EVENT.client, run)
  }

  #command(command: Command, tries: number): void {
    const { gid } = this.#plan
    const log = this.#auditor.log(gid)
    if (command.type === 'abort-asked') log.abortAsked = true
    if (command.type === 'stop-asked') log.stopAsked = true
    let isAnswered = false
    this.#ask(
      (node, reply) => node.command(gid, command, reply),
      () => {
        isAnswered = true
      },
    )
    this.#later(PATIENCE_MS, () => {
      if (!isAnswered && tries > 1) this.#command(command, tries - 1)
    })
  }

  #submitOther(): void {
    this.#ask(
      (node, reply) => node.submit(this.#plan, OTHER_CONTENT, false, reply),
      (answer) => {
        if (answer === 'conflict') this.#world.counters.refusedOtherContent++
        else if (answer !== 'not-accepted')
          this.#auditor.report('I17', this.#plan.gid, `other content was answered ${answer}`)
      },
    )
  }

  #view(times: number): void {
    this.#ask(
      (node, reply) => node.view(this.#plan.gid, reply),
      () => {
        if (times > 1) this.#later(this.#world.random.between(10, 800), () => this.#view(times - 1))
      },
    )
  }

  #ask(ask: Ask, answered: (answer: Answer) => void): void {
    const asking = { world: this.#world, auditor: this.#auditor, nodes: this.#nodes, gid: this.#plan.gid }
    askNode(asking, ask, answered)
  }
}
