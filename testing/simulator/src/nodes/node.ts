/**
 * One orchestrator. It takes submits and commands, runs the transactions that it
 * accepted or claimed, renews leases, and may die at any event.
 */
import {
  type Command,
  FORMAT,
  type Grant,
  type Run,
  type RunSettings,
  type StoredTransaction,
  type TransactionUpdate,
  takeOver,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { Auditor } from '../audit/auditor.ts'
import type { ValuesAudit } from '../audit/values-audit.ts'
import type { Network } from '../branches/network.ts'
import type { Plan } from '../clients/plan.ts'
import { SimClock } from '../world/clock.ts'
import { EVENT } from '../world/event-code.ts'
import type { SimStore } from '../world/sim-store.ts'
import { askStore } from '../world/store-link.ts'
import type { World } from '../world/world.ts'
import { NodeAcceptance, type Submit } from './node-acceptance.ts'
import { NodeCommands } from './node-commands.ts'
import type { NodeHost } from './node-host.ts'
import { type Answer, isStatus, type Reply } from './reply.ts'
import { RunHost } from './run-host.ts'

export interface Surroundings {
  readonly world: World
  readonly auditor: Auditor
  readonly values: ValuesAudit
  readonly store: SimStore
  readonly network: Network
  readonly settings: RunSettings
}

export const POLL_MS = 400
const CLAIM_LIMIT = 4
const RESEND_MS = 25
const ORIGIN_MS_MAX = 1_000_000
/** The clock error of the mutant that compares leases with its own wall clock. */
const WALL_CLOCK_ERROR_MS = 2_000

export class Node implements NodeHost {
  readonly name: string
  readonly world: World
  readonly auditor: Auditor
  readonly store: SimStore
  readonly network: Network
  readonly settings: RunSettings
  readonly #plans: readonly Plan[]
  readonly #runs = new Map<Gid, RunHost>()
  readonly #acceptance: NodeAcceptance
  readonly #commands: NodeCommands
  clock: SimClock
  incarnation = 0
  pausedUntil = 0
  isUp = false
  #isDraining = false
  /** The offset to the store's clock. It is unknown until the store has answered this incarnation. */
  #storeOffset: number | undefined

  constructor(name: string, plans: readonly Plan[], surroundings: Surroundings) {
    this.name = name
    this.world = surroundings.world
    this.auditor = surroundings.auditor
    this.store = surroundings.store
    this.network = surroundings.network
    this.settings = surroundings.settings
    this.#plans = plans
    this.clock = new SimClock(this.world, 0, 1)
    this.#acceptance = new NodeAcceptance(this, (plan, run) => this.#host(plan, run))
    this.#commands = new NodeCommands(this)
  }

  get running(): readonly Gid[] {
    return [...this.#runs.keys()]
  }

  now(): number {
    return this.clock.now()
  }

  start(): void {
    if (this.isUp) return
    this.isUp = true
    this.#isDraining = false
    this.clock = this.#newClock()
    this.#storeOffset = undefined
    this.#poll()
    this.#renewLater()
  }

  #newClock(): SimClock {
    const { counters, faults } = this.world
    const random = this.world.getRandom(this.name)
    const origin = random.next() * ORIGIN_MS_MAX
    if (faults.clockDrift === 0) return new SimClock(this.world, origin, 1)
    counters.driftingClocks++
    return new SimClock(this.world, origin, 1 + faults.clockDrift * (2 * random.next() - 1))
  }

  /** Kills the node. Its memory is lost, but the requests that it has sent go on. */
  crash(): void {
    if (!this.isUp) return
    this.isUp = false
    this.incarnation++
    this.pausedUntil = 0
    this.#runs.clear()
    this.#acceptance.clear()
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

  submit(asked: Submit): void {
    if (this.#isDraining) asked.reply('not-accepted')
    else this.#acceptance.submit(asked, this.#runs.get(asked.plan.gid))
  }

  command(gid: Gid, command: Command, reply: Reply): void {
    this.#commands.command(gid, command, reply, this.#runs.get(gid))
  }

  /** Aborts for an operator, who does not wait for the answer. */
  abort(gid: Gid): void {
    this.auditor.log(gid).abortAsked = true
    this.command(gid, { type: 'abort-asked' }, () => undefined)
  }

  view(gid: Gid, reply: Reply): void {
    this.#commands.view(gid, reply, this.#runs.get(gid))
  }

  reply(gid: Gid, answer: Answer, reply: Reply): void {
    if (isStatus(answer)) this.auditor.checkAnswer(gid, answer)
    reply(answer)
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

  #poll(): void {
    const { world } = this
    const { flaw } = world.wiring
    const pollMs = this.clock.worldMs(POLL_MS + world.getRandom(this.name).between(-50, 50))
    world.after(pollMs, EVENT.poll, () => this.#poll(), this)
    if (this.#isDraining || flaw === 'never-claims') return
    if (flaw === 'retries-block-claims' && this.store.rows().some((row) => row.retrying)) return
    const tokens = Array.from({ length: CLAIM_LIMIT }, () => `t${world.nextId()}`)
    const { leaseMs } = this.settings
    const sentAt = this.now()
    askStore(world, this, {
      about: this.name,
      apply: () => {
        const claim = { limit: CLAIM_LIMIT, leaseMs, tokens, formatMax: FORMAT }
        if (flaw !== 'lease-by-own-clock') return this.store.claimDue(claim)
        return this.store.claimDue(claim, world.storeNow + WALL_CLOCK_ERROR_MS)
      },
      answered: ({ now, claimed }) => {
        world.noteReading(now)
        this.#storeOffset = now - this.now()
        for (const row of claimed) this.#takeOver(row, { sentAt, now: this.now(), storeNow: now })
      },
      unavailable: () => undefined,
    })
  }

  #takeOver(row: StoredTransaction, grant: Grant): void {
    const { counters, wiring } = this.world
    const taken = takeOver(wiring.rules, row, this.settings, grant)
    if (taken.type !== 'run') {
      counters.rested++
      this.#giveBack({ ...taken.update, writeId: `w${this.world.nextId()}` })
      return
    }
    counters.takeovers++
    const plan = this.#plans.find(({ gid }) => gid === row.gid)
    if (plan !== undefined) this.#host(plan, taken.run)
  }

  #giveBack(update: TransactionUpdate): void {
    const { world } = this
    askStore(world, this, {
      about: update.gid,
      apply: () => this.store.update(update),
      answered: () => undefined,
      unavailable: () => world.after(RESEND_MS, EVENT.resend, () => this.#giveBack(update), this),
    })
  }

  #renewLater(): void {
    const thirdMs = this.clock.worldMs(this.settings.leaseMs / 3)
    this.world.after(thirdMs, EVENT.renew, () => this.#renew(), this)
  }

  #renew(): void {
    this.#renewLater()
    if (this.#runs.size === 0) return
    const hosts = [...this.#runs.values()]
    const leases = hosts.map(({ plan, run }) => ({ gid: plan.gid, token: run.token }))
    const sentAt = this.now()
    askStore(this.world, this, {
      about: this.name,
      apply: () => this.store.renew(leases, this.settings.leaseMs),
      answered: ({ now, renewed, lost }) => {
        this.world.noteReading(now)
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

  /** Reads the assumed store time. It is at least `updatedAt`, since the row was written then. */
  storeNow({ updatedAt }: StoredTransaction): number {
    if (this.#storeOffset === undefined) return updatedAt
    return Math.max(updatedAt, Math.floor(this.now() + this.#storeOffset))
  }
}
