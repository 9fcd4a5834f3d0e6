/** One run on a node: hands events to the core and does what it says. */
import {
  type Command,
  isDone,
  type Run,
  type RunEffect,
  type RunEvent,
  refusalOf,
  type StoredTransaction,
  stepRun,
  type TransactionUpdate,
} from '@counterstep/core'
import { isFinalStatus, type Status } from '@counterstep/protocol'
import { EVENT } from './event-code.ts'
import type { NodeHost } from './node-host.ts'
import type { Plan } from './plan.ts'
import { withoutNewBranches } from './prepared-mutants.ts'
import { askStore } from './store-link.ts'

/** `gone`: this run ended before it could say. `refused`: it cannot be given to the transaction as it is. */
export type RunAnswer = (status: Status | 'gone' | 'refused') => void

interface Waiter {
  /** Absent: waits for the end. */
  readonly changed?: number
  readonly answer: RunAnswer
}

const RESEND_MS = 20

export class RunHost {
  run: Run
  readonly plan: Plan
  readonly #node: NodeHost
  #waiters: Waiter[] = []
  #wakeAt: number | undefined
  /** Another run has taken its place. */
  #isDropped = false

  constructor(node: NodeHost, plan: Plan, run: Run) {
    this.#node = node
    this.plan = plan
    this.run = run
  }

  get holdsLease(): boolean {
    return !this.run.ended && this.#node.now() < this.run.leaseUntil
  }

  /** While the lease runs nobody else can have ended it, but by a command; a save in flight may have ended it. */
  get mayTell(): boolean {
    const { durableStatus, save } = this.run
    return this.holdsLease && (save === undefined || (save.hold === 'keep' && save.status === durableStatus))
  }

  apply(event: RunEvent): void {
    if (this.#isDropped) return
    const { world } = this.#node
    const { run, effects } = stepRun(world.wiring.rules, this.run, event, this.#node.now())
    this.run = run
    if (world.trace.isOn) this.#trace(event, effects)
    for (const effect of effects) this.#do(effect)
    if (world.wiring.tellsEarly && isFinalStatus(run.transaction.status)) {
      this.#tell(() => true, run.transaction.status)
    }
  }

  command(command: Command, answer: RunAnswer): void {
    const isGiven = refusalOf(this.run.transaction, command) === undefined
    if (isGiven) this.apply({ type: 'command', command })
    const durable = () => {
      const { transaction, durableStatus } = this.run
      if (isGiven && isDone(transaction, command)) answer(durableStatus)
      else if (refusalOf(transaction, command) !== undefined) answer('refused')
      // Another node's command took back what stood in the way, or what had been given.
      else this.command(command, answer)
    }
    const { ended, durable: saved, gate } = this.run
    if (ended) answer('gone')
    else if (saved >= gate) durable()
    else
      this.#waiters.push({
        changed: gate,
        answer: (status) => (status === 'gone' ? answer(status) : durable()),
      })
  }

  waitForEnd(answer: RunAnswer): void {
    this.#waiters.push({ answer })
  }

  drop(): void {
    this.#isDropped = true
    this.#tell(() => true, 'gone')
  }

  #do(effect: RunEffect): void {
    const { auditor, network, world } = this.#node
    switch (effect.type) {
      case 'call': {
        const { attempt, call } = effect
        auditor.called(this.run, call, this, this.#node.now())
        network.send(this.#node, {
          plan: this.plan,
          call,
          answered: (answer, durationMs) =>
            this.apply({
              type: 'answered',
              call,
              attempt,
              answer,
              durationMs,
              jitter01: world.random.next(),
            }),
        })
        return
      }
      case 'save':
        this.#save({ ...effect.update, writeId: `w${world.nextId()}` })
        return
      case 'reread':
        this.#reread()
        return
      case 'wake-at':
        this.#wake(effect.at)
        return
      case 'durable':
        this.#tell(({ changed }) => changed !== undefined && changed <= effect.changed, undefined)
        return
      case 'ended':
        this.#end(effect.how)
        return
    }
  }

  #save(update: TransactionUpdate): void {
    const { store, world } = this.#node
    if (this.#isDropped || this.run.ended) return
    askStore(world, this.#node, {
      apply: () => store.update(update),
      answered: (result) => this.apply({ type: 'saved', result }),
      unavailable: () => world.after(RESEND_MS, EVENT.resend, () => this.#save(update), this.#node),
    })
  }

  #reread(): void {
    const { store, world } = this.#node
    if (this.#isDropped || this.run.ended) return
    askStore(world, this.#node, {
      apply: () => store.read(this.plan.gid),
      answered: (row) => this.apply({ type: 'reread', row: this.#asSeen(row) }),
      unavailable: () => world.after(RESEND_MS, EVENT.resend, () => this.#reread(), this.#node),
    })
  }

  #asSeen(row: StoredTransaction | undefined): StoredTransaction | undefined {
    if (row === undefined || !this.#node.world.wiring.overlooksBranches) return row
    return withoutNewBranches(row, this.run.transaction)
  }

  #wake(at: number): void {
    if (this.#wakeAt !== undefined && this.#wakeAt <= at) return
    this.#wakeAt = at
    const { world } = this.#node
    const tick = () => {
      if (this.#wakeAt !== at) return
      this.#wakeAt = undefined
      this.apply({ type: 'tick' })
    }
    world.after(Math.max(1, at - this.#node.now()), EVENT.tick, tick, this.#node)
  }

  #end(how: 'finished' | 'released' | 'lost'): void {
    const { counters } = this.#node.world
    if (how === 'released') counters.releases++
    if (how === 'lost') counters.leasesLost++
    this.#node.forget(this)
    this.#tell(() => true, how === 'finished' ? this.run.durableStatus : 'gone')
  }

  #tell(isFor: (waiter: Waiter) => boolean, status: Status | 'gone' | undefined): void {
    if (this.#waiters.length === 0) return
    const told = this.#waiters.filter(isFor)
    this.#waiters = this.#waiters.filter((waiter) => !isFor(waiter))
    for (const { answer } of told) answer(status ?? this.run.durableStatus)
  }

  #trace(event: RunEvent, effects: readonly RunEffect[]): void {
    const { world, name } = this.#node
    const { transaction, changed, durable, gate, version, token } = this.run
    const what =
      event.type === 'answered'
        ? `answered ${event.call.op} ${event.call.branch} ${event.answer.result}`
        : event.type
    const result = event.type === 'saved' ? ` ${event.result.type}` : ''
    const done = effects.map((effect) => {
      if (effect.type === 'call') return `${effect.call.op} ${effect.call.branch}`
      return effect.type === 'save' ? `save ${effect.update.hold.type} ${effect.update.status}` : effect.type
    })
    world.trace.line(
      world.now,
      `${name} ${transaction.gid} ${token} v${version} ${transaction.status} ${what}${result} (${durable}/${gate}/${changed}) → ${done.join(', ')}`,
    )
  }
}
