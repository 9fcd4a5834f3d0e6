/** One orchestrator: takes submits and commands, runs what it accepted or claimed, renews, and may die at any event. */
import {
  acceptedRun,
  type Command,
  FORMAT,
  type Grant,
  newTransaction,
  newTransactionRow,
  planCommand,
  type Run,
  type RunSettings,
  type StoredTransaction,
  type TransactionUpdate,
  takeOver,
} from '@counterstep/core'
import { type Gid, isFinalStatus, type Status } from '@counterstep/protocol'
import type { Auditor } from './auditor.ts'
import { EVENT } from './event-code.ts'
import type { Network } from './network.ts'
import type { NodeHost } from './node-host.ts'
import type { Plan } from './plan.ts'
import { RunHost } from './run-host.ts'
import type { SimStore } from './sim-store.ts'
import { askStore } from './store-link.ts'
import type { World } from './world.ts'

/** `not-accepted`: proven. `conflict`: other content under that gid. `absent`: no such gid. `refused`: not in its state. */
export type Reply = (answer: Status | NoStatus) => void
export type NoStatus = 'not-accepted' | 'conflict' | 'absent' | 'refused'

/** A create in flight, and who waits for it. */
interface Creating {
  readonly digest: string
  readonly replies: Reply[]
  readonly after: (() => void)[]
}

export interface Surroundings {
  readonly world: World
  readonly auditor: Auditor
  readonly store: SimStore
  readonly network: Network
  readonly settings: RunSettings
}

const POLL_MS = 400
const CLAIM_LIMIT = 4
const RESEND_MS = 25
const COMMAND_TRIES = 12

export class Node implements NodeHost {
  readonly name: string
  readonly world: World
  readonly auditor: Auditor
  readonly store: SimStore
  readonly network: Network
  readonly #settings: RunSettings
  readonly #plans: readonly Plan[]
  readonly #runs = new Map<Gid, RunHost>()
  readonly #creating = new Map<Gid, Creating>()
  incarnation = 0
  pausedUntil = 0
  isUp = false
  #isDraining = false
  #clockOffset = 0
  /** Unknown until the store has answered this incarnation. */
  #storeOffset: number | undefined

  constructor(name: string, plans: readonly Plan[], surroundings: Surroundings) {
    this.name = name
    this.world = surroundings.world
    this.auditor = surroundings.auditor
    this.store = surroundings.store
    this.network = surroundings.network
    this.#settings = surroundings.settings
    this.#plans = plans
  }

  get running(): number {
    return this.#runs.size
  }

  now(): number {
    return this.world.now + this.#clockOffset
  }

  start(): void {
    if (this.isUp) return
    this.isUp = true
    this.#isDraining = false
    this.#clockOffset = this.world.random.next() * 1_000_000
    this.#storeOffset = undefined
    this.#poll()
    this.#renewLater()
  }

  /** What it knew is gone; what it sent is not. */
  crash(): void {
    if (!this.isUp) return
    this.isUp = false
    this.incarnation++
    this.pausedUntil = 0
    this.#runs.clear()
    this.#creating.clear()
  }

  drain(when: 'when-calls-end' | 'now'): void {
    this.#isDraining = true
    for (const host of [...this.#runs.values()]) host.apply({ type: 'drain', when })
  }

  forget(run: object): void {
    if (!(run instanceof RunHost)) return
    const { gid } = run.plan
    if (this.#runs.get(gid) === run) this.#runs.delete(gid)
  }

  // ── submit ──

  submit(plan: Plan, digest: string, waits: boolean, reply: Reply): void {
    if (this.#isDraining) {
      reply('not-accepted')
      return
    }
    const host = this.#runs.get(plan.gid)
    if (host?.mayTell === true) {
      if (digest !== plan.digest) reply('conflict')
      else {
        this.#reply(plan.gid, host.run.durableStatus, reply)
        if (waits) this.#waitForEnd(host, reply)
      }
      return
    }
    const creating = this.#creating.get(plan.gid)
    if (creating !== undefined) {
      if (creating.digest === digest) creating.replies.push(reply)
      // Whose content it is shows when the other create is definite.
      else creating.after.push(() => this.submit(plan, digest, waits, reply))
      return
    }
    this.#create(plan, digest, waits, reply)
  }

  #create(plan: Plan, digest: string, waits: boolean, reply: Reply): void {
    const { world } = this
    const ids = { gid: plan.gid, digest, token: `t${world.nextId()}`, writeId: `w${world.nextId()}` }
    const row = newTransactionRow(plan.submission, ids, this.#settings)
    const sentAt = this.now()
    const creating: Creating = { digest, replies: [reply], after: [] }
    this.#creating.set(plan.gid, creating)
    const answerAll = (answer: Parameters<Reply>[0]) => {
      this.#creating.delete(plan.gid)
      for (const each of creating.replies) this.#reply(plan.gid, answer, each)
    }
    const accept = (createdAt: number, storeNow: number) => {
      if (row.hold.type === 'waiting') return
      const grant: Grant = { sentAt, now: this.now(), storeNow }
      const transaction = newTransaction(plan.submission, ids, createdAt)
      const host = this.#host(plan, acceptedRun(transaction, ids.token, this.#settings, grant))
      if (waits) this.#waitForEnd(host, reply)
    }
    if (world.wiring.actsBeforeAccept) accept(world.storeNow, world.storeNow)
    let mayBeStored = false
    const send = () =>
      askStore(world, this, {
        apply: () => this.store.create(row),
        answered: (result) => {
          if (result.type === 'created') {
            answerAll(row.status)
            if (!world.wiring.actsBeforeAccept) accept(result.createdAt, result.now)
          } else answerAll(result.digest === digest ? result.status : 'conflict')
          for (const run of creating.after) run()
        },
        unavailable: (applied) => {
          if (applied === 'unknown') mayBeStored = true
          if (mayBeStored) world.after(RESEND_MS, EVENT.resend, send, this)
          else {
            answerAll('not-accepted')
            for (const run of creating.after) run()
          }
        },
      })
    send()
  }

  #host(plan: Plan, run: Run): RunHost {
    const host = new RunHost(this, plan, run)
    const before = this.#runs.get(plan.gid)
    this.#runs.set(plan.gid, host)
    before?.drop()
    host.apply({ type: 'tick' })
    if (this.#isDraining) host.apply({ type: 'drain', when: 'when-calls-end' })
    return host
  }

  #waitForEnd(host: RunHost, reply: Reply): void {
    host.waitForEnd((status) => {
      if (status !== 'gone' && status !== 'refused') this.#reply(host.plan.gid, status, reply)
    })
  }

  #reply(gid: Gid, answer: Parameters<Reply>[0], reply: Reply): void {
    if (isStatus(answer)) this.auditor.told(gid, answer)
    reply(answer)
  }

  // ── claims and leases ──

  #poll(): void {
    const { world } = this
    world.after(POLL_MS + world.random.between(-50, 50), EVENT.poll, () => this.#poll(), this)
    if (this.#isDraining) return
    const tokens = Array.from({ length: CLAIM_LIMIT }, () => `t${world.nextId()}`)
    const { leaseMs } = this.#settings
    const sentAt = this.now()
    askStore(world, this, {
      apply: () => this.store.claimDue({ limit: CLAIM_LIMIT, leaseMs, tokens, formatMax: FORMAT }),
      answered: ({ now, claimed }) => {
        this.#storeOffset = now - this.now()
        for (const row of claimed) this.#takeOver(row, { sentAt, now: this.now(), storeNow: now })
      },
      unavailable: () => undefined,
    })
  }

  #takeOver(row: StoredTransaction, grant: Grant): void {
    const { counters, wiring } = this.world
    const taken = takeOver(wiring.rules, row, this.#settings, grant)
    if (taken.type === 'park') {
      counters.parked++
      this.#park({ ...taken.update, writeId: `w${this.world.nextId()}` })
      return
    }
    counters.takeovers++
    const plan = this.#plans.find(({ gid }) => gid === row.gid)
    if (plan !== undefined) this.#host(plan, taken.run)
  }

  #park(update: TransactionUpdate): void {
    const { world } = this
    askStore(world, this, {
      apply: () => this.store.update(update),
      answered: () => undefined,
      unavailable: () => world.after(RESEND_MS, EVENT.resend, () => this.#park(update), this),
    })
  }

  #renewLater(): void {
    const { leaseMs } = this.#settings
    this.world.after(leaseMs / 3, EVENT.renew, () => this.#renew(), this)
  }

  #renew(): void {
    this.#renewLater()
    if (this.#runs.size === 0) return
    const hosts = [...this.#runs.values()]
    const leases = hosts.map(({ plan, run }) => ({ gid: plan.gid, token: run.token }))
    const sentAt = this.now()
    askStore(this.world, this, {
      apply: () => this.store.renew(leases, this.#settings.leaseMs),
      answered: ({ now, renewed, lost }) => {
        this.#storeOffset = now - this.now()
        const grant: Grant = { sentAt, now: this.now(), storeNow: now }
        const versions = new Map(renewed.map(({ gid, version }) => [gid, version]))
        for (const host of hosts) {
          const version = versions.get(host.plan.gid)
          if (version !== undefined) host.apply({ type: 'renewed', grant, version })
          else if (lost.includes(host.plan.gid)) host.apply({ type: 'lease-lost' })
        }
      },
      unavailable: () => undefined,
    })
  }

  /** Never later than it is: a row that was written at `updatedAt` proves that it is at least that. */
  #storeNow({ updatedAt }: StoredTransaction): number {
    if (this.#storeOffset === undefined) return updatedAt
    return Math.max(updatedAt, Math.floor(this.now() + this.#storeOffset))
  }

  // ── commands and views ──

  command(gid: Gid, command: Command, reply: Reply): void {
    const host = this.#runs.get(gid)
    if (host?.holdsLease !== true) {
      this.#commandRow(gid, command, reply, COMMAND_TRIES)
      return
    }
    this.world.counters.localCommands++
    host.command(command, (status) => {
      if (status === 'gone') this.#commandRow(gid, command, reply, COMMAND_TRIES)
      else this.#reply(gid, status, reply)
    })
  }

  /** On behalf of an operator, who does not wait for the answer. */
  abort(gid: Gid): void {
    this.auditor.log(gid).abortAsked = true
    this.command(gid, { type: 'abort-asked' }, () => undefined)
  }

  view(gid: Gid, reply: Reply): void {
    const host = this.#runs.get(gid)
    if (host?.mayTell === true) this.#reply(gid, host.run.durableStatus, reply)
    else this.#read(gid, (row) => this.#reply(gid, row?.status ?? 'absent', reply))
  }

  #read(gid: Gid, answered: (row: StoredTransaction | undefined) => void): void {
    askStore(this.world, this, {
      apply: () => this.store.read(gid),
      answered,
      unavailable: () => this.world.after(RESEND_MS, EVENT.resend, () => this.#read(gid, answered), this),
    })
  }

  #commandRow(gid: Gid, command: Command, reply: Reply, tries: number): void {
    if (tries === 0) return
    this.#read(gid, (row) => {
      if (row === undefined) {
        reply('absent')
        return
      }
      const { rules } = this.world.wiring
      const plan = planCommand(rules, row, command, { retentionMs: 'never', storeNow: this.#storeNow(row) })
      if (plan.type !== 'update') {
        if (plan.type === 'refused') this.world.counters.commandsTooLate++
        this.#reply(gid, plan.type === 'refused' ? 'refused' : plan.transaction.status, reply)
        return
      }
      const update = { ...plan.update, writeId: `w${this.world.nextId()}` }
      this.#writeCommand(update, reply, () => this.#commandRow(gid, command, reply, tries - 1))
    })
  }

  #writeCommand(update: TransactionUpdate, reply: Reply, again: () => void): void {
    const { world } = this
    askStore(world, this, {
      apply: () => {
        const result = this.store.update(update)
        if (result.type === 'saved' && isFinalStatus(update.status))
          this.auditor.log(update.gid).isEndedByCommand = true
        return result
      },
      answered: (result) => {
        if (result.type === 'saved') {
          world.counters.remoteCommands++
          this.#reply(update.gid, update.status, reply)
        } else again()
      },
      unavailable: () =>
        world.after(RESEND_MS, EVENT.resend, () => this.#writeCommand(update, reply, again), this),
    })
  }
}

export function isStatus(answer: Status | NoStatus): answer is Status {
  return answer !== 'not-accepted' && answer !== 'conflict' && answer !== 'absent' && answer !== 'refused'
}
