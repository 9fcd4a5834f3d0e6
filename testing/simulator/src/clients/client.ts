/** The client of a saga. It submits until the saga is accepted, and then views, aborts, retries or stops it. */
import type { Command } from '@counterstep/core'
import { isFinalStatus } from '@counterstep/protocol'
import type { Auditor } from '../audit/auditor.ts'
import type { ValuesAudit } from '../audit/values-audit.ts'
import type { Node } from '../nodes/node.ts'
import { type Answer, isStatus } from '../nodes/reply.ts'
import { EVENT } from '../world/event-code.ts'
import type { Random } from '../world/random.ts'
import type { World } from '../world/world.ts'
import { type Ask, askNode } from './ask-node.ts'
import type { SagaPlan } from './saga-plan.ts'
import type { PlannedSignal } from './stages-plan.ts'

const PATIENCE_MS = 700
const GIVES_UP = 0.3
const LOOKS_MAX = 6
const WATCHES = 25
const SUBMIT_AGAIN_MS = 60
const SIGNAL_TRIES = 2
/** The longest time from the client to the store, where there are no faults. */
const SIGNAL_WAY_MS = 14
const OTHER_CONTENT = 'f'.repeat(64)

export class Client {
  readonly #world: World
  readonly #auditor: Auditor
  readonly #nodes: readonly Node[]
  readonly #plan: SagaPlan
  readonly #values: ValuesAudit
  readonly #random: Random
  readonly #waits: boolean
  #tries = 0
  #hasGivenUp = false
  #looksLeft: number

  constructor(world: World, auditor: Auditor, values: ValuesAudit, nodes: readonly Node[], plan: SagaPlan) {
    this.#world = world
    this.#auditor = auditor
    this.#nodes = nodes
    this.#plan = plan
    this.#values = values
    this.#random = world.getRandom(plan.gid)
    this.#waits = this.#random.chance(0.3)
    this.#looksLeft = this.#random.chance(0.3) ? LOOKS_MAX : 0
  }

  start(atMs: number): void {
    this.#world.after(atMs, EVENT.client, () => this.#submit())
  }

  get #isAcknowledged(): boolean {
    return this.#auditor.log(this.#plan.gid).isAcknowledged
  }

  /** Submits the same gid to some node, again and again until one accepts it. */
  #submit(): void {
    if (this.#isAcknowledged || this.#hasGivenUp) return
    if (this.#tries++ > 0) this.#world.counters.resubmits++
    const plan = this.#plan
    this.#ask(
      (node, reply) => node.submit({ plan, digest: plan.digest, waits: this.#waits, reply }),
      (answer) => {
        if (answer === 'conflict') this.#auditor.report('I17', plan.gid, 'the same content was refused')
        if (answer === 'not-accepted') this.#handleRefusal()
        else if (!this.#isAcknowledged) this.#handleAcceptance()
      },
    )
    this.#world.after(PATIENCE_MS, EVENT.client, () => this.#submit())
  }

  /** Handles a refusal. A client that was refused on its only try may rely on it that nothing was stored. */
  #handleRefusal(): void {
    const { counters } = this.#world
    const random = this.#random
    if (this.#tries > 1 || this.#isAcknowledged || !random.chance(GIVES_UP)) {
      this.#later(SUBMIT_AGAIN_MS, () => this.#submit())
      return
    }
    this.#hasGivenUp = true
    counters.givenUp++
    const log = this.#auditor.log(this.#plan.gid)
    log.isRefused = true
    log.isOrphan = true
  }

  #handleAcceptance(): void {
    const random = this.#random
    this.#auditor.log(this.#plan.gid).isAcknowledged = true
    if (this.#world.trace.isOn)
      this.#world.trace.line(this.#world.now, `client ${this.#plan.gid} acknowledged`)
    const soon = () => (random.chance(0.7) ? random.between(0, 300) : random.between(0, 4_000))
    if (random.chance(0.3)) this.#later(soon(), () => this.#command({ type: 'abort-asked' }, 2))
    if (random.chance(0.1)) this.#later(soon(), () => this.#command({ type: 'abort-asked' }, 1))
    if (random.chance(0.3)) this.#later(soon(), () => this.#command({ type: 'retry-asked' }, 2))
    if (random.chance(0.2)) this.#later(soon(), () => this.#command({ type: 'retry-asked' }, 1))
    if (this.#world.faults.nags > 0) this.#later(soon(), () => this.#nag(this.#world.faults.nags))
    if (random.chance(0.03)) this.#later(soon(), () => this.#command({ type: 'stop-asked' }, 2))
    if (random.chance(0.1)) this.#later(soon(), () => this.#submitOther())
    if (random.chance(0.15)) this.#later(random.between(0, 6_000), () => this.#submitOnceMore())
    if (random.chance(0.5)) this.#later(soon(), () => this.#view(random.between(1, 3)))
    if (this.#looksLeft > 0) this.#later(soon(), () => this.#watch(WATCHES))
    this.#planSignals()
  }

  /** Sends each signal at its time, or so that it arrives about when a wait of its name ends. */
  #planSignals(): void {
    const { gid, signals } = this.#plan
    for (const signal of signals)
      if (signal.at !== 'timeout') this.#later(signal.at, () => this.#sendSignal(signal))
    const atTimeout = signals.filter(({ at }) => at === 'timeout')
    const log = this.#auditor.log(gid)
    if (atTimeout.length === 0 || 'decision' in log) return
    log.onOpen = (name, leftMs) => {
      const place = atTimeout.findIndex((signal) => signal.name === name)
      const [signal] = place === -1 ? [] : atTimeout.splice(place, 1)
      if (signal !== undefined)
        this.#later(leftMs - this.#random.between(0, SIGNAL_WAY_MS), () => this.#sendSignal(signal))
    }
  }

  #sendSignal(signal: PlannedSignal): void {
    for (let copy = 0; copy < signal.copies; copy++) this.#signal(signal, SIGNAL_TRIES)
  }

  #signal(planned: PlannedSignal, tries: number): void {
    const { gid } = this.#plan
    const { id, isSure, name, value } = planned
    const signal = { name, id, digest: `${name} ${value}`, payload: `{"id":${value}}` }
    this.#auditor.stages.noteSignal(gid, name)
    this.#plan.definition.branches.forEach(({ wait }, branch) => {
      if (wait?.type === 'signal' && wait.name === name) this.#values.noteAnswer(gid, branch, value)
    })
    let isAnswered = false
    this.#ask(
      (node, reply) => node.command(gid, { type: 'signal-asked', signal }, reply),
      (answer) => {
        isAnswered ||= answer !== 'absent'
        if (answer === 'refused') this.#world.counters.signalsRefused++
      },
    )
    this.#later(PATIENCE_MS, () => {
      if (!isAnswered && !this.#world.isQuiet && (isSure || tries > 1)) this.#signal(planned, tries - 1)
    })
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

  /** Plays an operator who retries again and again, each time on another node. */
  #nag(times: number): void {
    this.#command({ type: 'retry-asked' }, 1)
    this.#world.counters.nags++
    if (times > 1) this.#later(this.#random.between(20, 200), () => this.#nag(times - 1))
  }

  #submitOther(): void {
    this.#ask(
      (node, reply) => node.submit({ plan: this.#plan, digest: OTHER_CONTENT, waits: false, reply }),
      (answer) => {
        if (answer === 'conflict') this.#world.counters.refusedOtherContent++
        else if (answer !== 'not-accepted')
          this.#auditor.report('I17', this.#plan.gid, `other content was answered ${answer}`)
      },
    )
  }

  /** Submits the same content long after it was accepted, perhaps after its end. This must have no effect. */
  #submitOnceMore(): void {
    const plan = this.#plan
    this.#ask(
      (node, reply) => node.submit({ plan, digest: plan.digest, waits: this.#waits, reply }),
      (answer) => {
        this.#world.counters.resubmitsAfterAccept++
        if (answer === 'conflict') this.#auditor.report('I17', plan.gid, 'the same content was refused')
      },
    )
  }

  /** Plays a page that shows the saga again and again. On whatever node it ends up, the status must not go back. */
  #watch(times: number): void {
    this.#view(1)
    if (times > 1 && this.#looksLeft > 0)
      this.#later(this.#random.between(10, 150), () => this.#watch(times - 1))
  }

  #view(times: number): void {
    this.#ask(
      (node, reply) => node.view(this.#plan.gid, reply),
      () => {
        if (times > 1) this.#later(this.#random.between(10, 800), () => this.#view(times - 1))
      },
    )
  }

  #ask(ask: Ask, answered: (answer: Answer) => void): void {
    const asking = { world: this.#world, auditor: this.#auditor, nodes: this.#nodes, gid: this.#plan.gid }
    const random = this.#random
    askNode(asking, ask, (answer) => {
      answered(answer)
      // A final status is viewed again at once, on any node, to check that it stays.
      if (this.#looksLeft > 0 && isStatus(answer) && isFinalStatus(answer)) {
        this.#looksLeft--
        this.#later(random.between(0, 80), () => this.#view(1))
      }
    })
  }
}
