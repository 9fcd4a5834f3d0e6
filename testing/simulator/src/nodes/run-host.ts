/** One run on a node. It gives events to the core and executes the effects. */
import {
  type Command,
  findRefusal,
  judgeCommand,
  mayShow,
  type OpProgress,
  type Run,
  type RunEffect,
  type RunEvent,
  readStoreNow,
  type StoredTransaction,
  stepRun,
  type Transaction,
  type TransactionUpdate,
} from '@counterstep/core'
import { isFinalStatus, type Status } from '@counterstep/protocol'
import { buildCallRequest } from '../branches/call-request.ts'
import type { Plan } from '../clients/plan.ts'
import { spoilTrail } from '../mutants/operator-mutants.ts'
import { withoutNewBranches } from '../mutants/prepared-mutants.ts'
import { spoilRecords } from '../mutants/recorded-mutants.ts'
import { spoilSignals, withoutMark } from '../mutants/stage-mutants.ts'
import { EVENT } from '../world/event-code.ts'
import { askStore } from '../world/store-link.ts'
import type { NodeHost } from './node-host.ts'

/** `gone`: this run ended before it could answer. `refused`: the command is not possible in the current state. */
export type RunAnswer = (status: Status | 'gone' | 'refused') => void

interface Waiter {
  /** The change that must be durable. Absent: it waits for the end. */
  readonly change?: number
  readonly answer: RunAnswer
}

const RESEND_MS = 20
/** This is longer than `holdMs` in most worlds, so that transactions are given back. */
const HELD_BACK_MS_MAX = 3_000

function isRetrying({ branches }: Transaction): boolean {
  return branches.some((ops) => Object.values(ops).some((op: OpProgress) => op.state === 'waiting'))
}

export class RunHost {
  run: Run
  readonly plan: Plan
  readonly #node: NodeHost
  #waiters: Waiter[] = []
  #wakeAt: number | undefined
  /** Whether another run has replaced it. */
  #isDropped = false

  constructor(node: NodeHost, plan: Plan, run: Run) {
    this.#node = node
    this.plan = plan
    this.run = run
  }

  get mayTell(): boolean {
    if (this.#node.world.wiring.flaw === 'shows-from-memory') return true
    return mayShow(this.run, this.#node.now())
  }

  get isRetrying(): boolean {
    return isRetrying(this.run.transaction)
  }

  apply(event: RunEvent): void {
    if (this.#isDropped) return
    const { world } = this.#node
    const { flaw, rules } = world.wiring
    if (event.type === 'answered' && event.answer.result === 'success')
      this.#node.auditor.operators.noteSuccess(this.plan.gid, event.call)
    if (event.type === 'answered')
      this.#node.auditor.pace.noteAnswer(this.run, event.call, this, this.#node.now())
    const before =
      flaw === 'no-self-fencing' ? { ...this.run, leaseUntil: Number.MAX_SAFE_INTEGER } : this.run
    const { run, effects } = stepRun(rules, before, event, this.#node.now())
    this.run = run
    if (world.trace.isOn) this.#trace(event, effects)
    for (const effect of effects) this.#do(effect)
    if (flaw === 'told-early' && isFinalStatus(run.transaction.status)) {
      this.#tell(() => true, run.transaction.status)
    }
  }

  command(command: Command, answer: RunAnswer): void {
    const { lastStrongChange } = this.run
    if (this.#mayGive(command)) this.apply({ type: 'command', command })
    const isSaved = this.run.lastStrongChange > lastStrongChange
    const answerTo = () => {
      const verdict = judgeCommand(this.run, command, isSaved, readStoreNow(this.run, this.#node.now()))
      if (verdict === 'done') answer(this.run.durableTransaction.status)
      else if (verdict === 'again') this.command(command, answer)
      else if (verdict === 'ask-store') answer('gone')
      else answer('refused')
    }
    this.#whenDurable(answerTo, answer)
  }

  #mayGive(command: Command): boolean {
    const { transaction } = this.run
    const isObeyed = this.#node.world.wiring.flaw === 'abort-while-pivot-unknown'
    const storeNow = readStoreNow(this.run, this.#node.now())
    return findRefusal(isObeyed ? withoutMark(transaction) : transaction, command, storeNow) === undefined
  }

  /** Calls `then` once the strong changes in memory are durable. */
  #whenDurable(then: () => void, answer: RunAnswer): void {
    const { ended, lastSavedChange, lastStrongChange } = this.run
    if (ended) answer('gone')
    else if (lastSavedChange >= lastStrongChange) then()
    else
      this.#waiters.push({
        change: lastStrongChange,
        answer: (status) => (status === 'gone' ? answer(status) : then()),
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
        if (world.getRandom('room').chance(world.faults.noRoom)) {
          this.#holdBack(effect)
          return
        }
        auditor.checkCall(this.run, call, this, this.#node.now())
        network.send(this.#node, {
          plan: this.plan,
          call,
          request: buildCallRequest(this.run.transaction, call, world.wiring.flaw, (branch) =>
            this.plan.kind === 'saga' ? network.findLastValue(this.plan, branch) : undefined,
          ),
          answered: (answer, durationMs) =>
            this.apply({
              type: 'answered',
              call,
              attempt,
              answer,
              durationMs,
              jitter01: world.getRandom(this.plan.gid).next(),
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
        this.#tell(({ change }) => change !== undefined && change <= effect.lastSavedChange, undefined)
        return
      case 'ended':
        this.#end(effect.how)
        return
    }
  }

  /**
   * Plays a node without a free place at the target of this call. The event comes after the step that wants the call.
   */
  #holdBack({ call, attempt }: Extract<RunEffect, { readonly type: 'call' }>): void {
    const { world } = this.#node
    world.counters.heldBack++
    const waitMs = world.getRandom('room').between(10, HELD_BACK_MS_MAX)
    const event = { type: 'held-back', calls: [{ call, attempt, waitMs }] } as const
    world.after(0, EVENT.heldBack, () => this.apply(event), this.#node)
  }

  #save(update: TransactionUpdate): void {
    const { store, world } = this.#node
    if (this.#isDropped || this.run.ended) return
    askStore(world, this.#node, {
      about: this.plan.gid,
      apply: () => store.update(update),
      answered: (result) => {
        const isRefused = result.type === 'conflict' || result.type === 'fenced'
        if (isRefused && world.wiring.flaw === 'refused-write-repeated') this.#saveOver(update)
        else this.apply({ type: 'saved', result })
      },
      unavailable: () => world.after(RESEND_MS, EVENT.resend, () => this.#save(update), this.#node),
    })
  }

  /** Plays a mutant that mistakes a refusal for a stale read. */
  #saveOver(update: TransactionUpdate): void {
    const row = this.#node.store.read(update.gid)
    if (row === undefined || isFinalStatus(row.status))
      this.apply({ type: 'saved', result: { type: 'absent' } })
    else this.#save({ ...update, token: row.token, version: row.version })
  }

  #reread(): void {
    const { store, world } = this.#node
    if (this.#isDropped || this.run.ended) return
    askStore(world, this.#node, {
      about: this.plan.gid,
      apply: () => store.read(this.plan.gid),
      answered: (row) => this.apply({ type: 'reread', row: this.#asSeen(row) }),
      unavailable: () => world.after(RESEND_MS, EVENT.resend, () => this.#reread(), this.#node),
    })
  }

  #asSeen(row: StoredTransaction | undefined): StoredTransaction | undefined {
    const { flaw } = this.#node.world.wiring
    if (row === undefined) return row
    if (flaw === 'learns-given-back') return { ...row, owned: true }
    if (flaw === 'drop-on-learn') return withoutNewBranches(row, this.run.transaction)
    const ours = this.run.transaction
    return spoilRecords(spoilTrail(spoilSignals(row, ours, flaw), ours, flaw), ours, flaw)
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
    const waitMs = this.#node.clock.worldMs(at - this.#node.now())
    world.after(Math.max(1, waitMs), EVENT.tick, tick, this.#node)
  }

  #end(how: 'finished' | 'released' | 'lost'): void {
    const { world } = this.#node
    const { counters } = world
    if (how === 'released') counters.releases++
    if (how === 'lost') counters.leasesLost++
    if (how !== 'lost' || world.wiring.flaw !== 'forgets-to-end') this.#node.forget(this)
    this.#tell(() => true, how === 'finished' ? this.run.durableTransaction.status : 'gone')
  }

  #tell(isFor: (waiter: Waiter) => boolean, status: Status | 'gone' | undefined): void {
    if (this.#waiters.length === 0) return
    const told = this.#waiters.filter(isFor)
    this.#waiters = this.#waiters.filter((waiter) => !isFor(waiter))
    for (const { answer } of told) answer(status ?? this.run.durableTransaction.status)
  }

  #trace(event: RunEvent, effects: readonly RunEffect[]): void {
    const { world, name } = this.#node
    const { transaction, lastChange, lastSavedChange, lastStrongChange, version, token } = this.run
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
      `${name} ${transaction.gid} ${token} v${version} ${transaction.status} ${what}${result} (${lastSavedChange}/${lastStrongChange}/${lastChange}) → ${done.join(', ')}`,
    )
  }
}
