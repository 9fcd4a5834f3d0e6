/** A node of a world of workflows: it accepts, claims, runs, renews and obeys, and may die at any event. */
import {
  acceptedRun,
  buildPlanCall,
  buildStepRequest,
  type CallKey,
  type Command,
  FORMAT,
  findRefusal,
  newTransaction,
  newTransactionRow,
  PLAN,
  parsePlan,
  planCommand,
  type Run,
  type RunEffect,
  type RunEvent,
  type RunSettings,
  readStoreNow,
  type SagaOp,
  type StoredTransaction,
  stepRun,
  takeOver,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { EVENT } from '../world/event-code.ts'
import type { SimStore } from '../world/sim-store.ts'
import { askStore } from '../world/store-link.ts'
import type { World } from '../world/world.ts'
import type { WorkflowAudit } from './workflow-audit.ts'
import type { WorkflowMutant } from './workflow-mutants.ts'
import type { WorkflowNetwork } from './workflow-network.ts'

export interface WorkflowParts {
  readonly world: World
  readonly store: SimStore
  readonly audit: WorkflowAudit
  readonly network: WorkflowNetwork
  readonly settings: RunSettings
  readonly mutant: WorkflowMutant
}

type Submission = Parameters<typeof newTransactionRow>[0]

const POLL_MS = 300
const RESEND_MS = 25

export class WorkflowNode {
  readonly name: string
  readonly #parts: WorkflowParts
  readonly #runs = new Map<Gid, Run>()
  readonly #wakes = new Map<Gid, number>()
  incarnation = 0
  pausedUntil = 0
  isUp = false

  constructor(name: string, parts: WorkflowParts) {
    this.name = name
    this.#parts = parts
  }

  start(): void {
    if (this.isUp) return
    this.isUp = true
    this.#poll()
    this.#renew()
  }

  crash(): void {
    this.isUp = false
    this.incarnation++
    this.#runs.clear()
    this.#wakes.clear()
  }

  submit(gid: Gid, submission: Submission): void {
    const { world, store, settings } = this.#parts
    const ids = {
      gid,
      digest: gid.padStart(64, '0'),
      token: `t${world.nextId()}`,
      writeId: `w${world.nextId()}`,
    }
    const sentAt = world.now
    askStore(world, this, {
      about: gid,
      apply: () => store.create(newTransactionRow(submission, ids, settings)),
      answered: (result) => {
        if (result.type !== 'created') return
        const grant = { sentAt, now: world.now, storeNow: result.now }
        this.#host(acceptedRun(newTransaction(submission, ids, result.createdAt), ids.token, settings, grant))
      },
      unavailable: () => world.after(RESEND_MS, EVENT.resend, () => this.submit(gid, submission), this),
    })
  }

  command(gid: Gid, command: Command, tries = 3): void {
    const { world, store, mutant } = this.#parts
    const run = this.#runs.get(gid)
    if (run !== undefined) {
      if (findRefusal(run.transaction, command, readStoreNow(run, world.now)) === undefined)
        this.#apply(gid, { type: 'command', command })
      return
    }
    const row = store.read(gid)
    if (row === undefined || tries === 0) return
    const plan = planCommand(mutant.rules, row, command, { retentionMs: 'never', storeNow: world.storeNow })
    if (plan.type !== 'update') return
    const update = { ...plan.update, writeId: `w${world.nextId()}` }
    askStore(world, this, {
      about: gid,
      apply: () => store.update(update),
      answered: (result) => {
        if (result.type !== 'saved') this.command(gid, command, tries - 1)
      },
      unavailable: () => undefined,
    })
  }

  #host(run: Run): void {
    const { gid } = run.transaction
    this.#runs.set(gid, run)
    this.#apply(gid, { type: 'tick' })
  }

  #apply(gid: Gid, event: RunEvent): void {
    const { world, mutant } = this.#parts
    const before = this.#runs.get(gid)
    if (before === undefined) return
    const { run, effects } = stepRun(mutant.rules, before, event, world.now)
    const next =
      event.type === 'reread' && mutant.onReread !== undefined ? mutant.onReread(run, event.row, before) : run
    this.#runs.set(gid, next)
    if (world.trace.isOn) {
      const done = effects.map((effect) =>
        effect.type === 'call' ? `${effect.call.op} ${effect.call.branch}` : effect.type,
      )
      world.trace.line(
        world.now,
        `${this.name} ${gid} ${event.type} → ${next.transaction.status} ${done.join(', ')}`,
      )
    }
    for (const effect of effects) this.#do(gid, effect)
  }

  #do(gid: Gid, effect: RunEffect): void {
    switch (effect.type) {
      case 'call':
        this.#call(gid, effect.call, effect.attempt)
        return
      case 'save':
        this.#save(gid, { ...effect.update, writeId: `w${this.#parts.world.nextId()}` })
        return
      case 'reread':
        this.#reread(gid)
        return
      case 'wake-at':
        this.#wake(gid, effect.at)
        return
      case 'ended':
        this.#runs.delete(gid)
        return
      case 'durable':
        return
    }
  }

  #call(gid: Gid, call: CallKey, attempt: number): void {
    const { world, audit, network, mutant } = this.#parts
    const run = this.#runs.get(gid)
    if (run?.transaction.kind !== 'workflow') return
    const { transaction } = run
    audit.checkCall(run, call)
    const { token } = run
    const isPlan = call.branch === PLAN
    const { body } = isPlan
      ? buildPlanCall(mutant.toPlanCall?.(transaction) ?? transaction)
      : buildStepRequest(transaction, call.branch, call.op as SagaOp)
    const step = transaction.steps[call.branch]?.branch
    const isLocal = transaction.steps[call.branch]?.local !== undefined
    const request = {
      ...{ gid, op: call.op, id: step?.id ?? '', body },
      isSure: step?.role === 'retriable',
      mayBeLarge: step !== undefined && step.role === undefined && !isLocal,
    }
    network.send(this, request, transaction.definition.timeoutMs, (answer, durationMs) => {
      const current = this.#runs.get(gid)
      if (current?.token !== token || current.transaction.kind !== 'workflow') return
      const isRead = isPlan && answer.result === 'success' && answer.statusCode === 200
      const plan = isRead ? { plan: parsePlan(current.transaction, answer.body, () => undefined) } : {}
      const jitter01 = world.getRandom(gid).next()
      this.#apply(gid, { type: 'answered', call, attempt, answer, durationMs, jitter01, ...plan })
    })
  }

  #save(gid: Gid, update: Parameters<SimStore['update']>[0]): void {
    const { world, store } = this.#parts
    const run = this.#runs.get(gid)
    if (run?.token !== update.token) return
    askStore(world, this, {
      about: gid,
      apply: () => store.update(update),
      answered: (result) => this.#applyOf(gid, update.token, { type: 'saved', result }),
      unavailable: () => world.after(RESEND_MS, EVENT.resend, () => this.#save(gid, update), this),
    })
  }

  #reread(gid: Gid): void {
    const { world, store } = this.#parts
    const token = this.#runs.get(gid)?.token
    askStore(world, this, {
      about: gid,
      apply: () => store.read(gid),
      answered: (row) => this.#applyOf(gid, token, { type: 'reread', row }),
      unavailable: () => world.after(RESEND_MS, EVENT.resend, () => this.#reread(gid), this),
    })
  }

  #applyOf(gid: Gid, token: string | undefined, event: RunEvent): void {
    if (this.#runs.get(gid)?.token === token) this.#apply(gid, event)
  }

  #wake(gid: Gid, at: number): void {
    const { world } = this.#parts
    const earlier = this.#wakes.get(gid)
    if (earlier !== undefined && earlier <= at && earlier > world.now) return
    this.#wakes.set(gid, at)
    const tick = () => {
      if (this.#wakes.get(gid) !== at) return
      this.#wakes.delete(gid)
      this.#apply(gid, { type: 'tick' })
    }
    world.after(Math.max(1, at - world.now), EVENT.tick, tick, this)
  }

  #poll(): void {
    const { world, store, settings, mutant } = this.#parts
    world.after(POLL_MS, EVENT.poll, () => this.#poll(), this)
    const tokens = Array.from({ length: 4 }, () => `t${world.nextId()}`)
    const sentAt = world.now
    askStore(world, this, {
      about: this.name,
      apply: () => store.claimDue({ limit: 4, leaseMs: settings.leaseMs, tokens, formatMax: FORMAT }),
      answered: ({ now, claimed }) => {
        for (const row of claimed) {
          const taken = takeOver(mutant.rules, row, settings, { sentAt, now: world.now, storeNow: now })
          world.counters.takeovers++
          if (taken.type === 'run') this.#host(taken.run)
          else this.#giveBack(row, { ...taken.update, writeId: `w${world.nextId()}` })
        }
      },
      unavailable: () => undefined,
    })
  }

  #giveBack(row: StoredTransaction, update: Parameters<SimStore['update']>[0]): void {
    const { world, store } = this.#parts
    askStore(world, this, {
      about: row.gid,
      apply: () => store.update(update),
      answered: () => undefined,
      unavailable: () => world.after(RESEND_MS, EVENT.resend, () => this.#giveBack(row, update), this),
    })
  }

  #renew(): void {
    const { world, store, settings } = this.#parts
    world.after(settings.leaseMs / 3, EVENT.renew, () => this.#renew(), this)
    const held = [...this.#runs.values()].map(({ transaction, token }) => ({ gid: transaction.gid, token }))
    if (held.length === 0) return
    const sentAt = world.now
    askStore(world, this, {
      about: this.name,
      apply: () => store.renew(held, settings.leaseMs),
      answered: ({ now, renewed, lost }) => {
        const grant = { sentAt, now: world.now, storeNow: now }
        const versions = new Map(renewed.map(({ gid, version }) => [gid, version]))
        for (const { gid, token } of held) {
          const version = versions.get(gid)
          if (version !== undefined) this.#applyOf(gid, token, { type: 'renewed', grant, version })
          else if (lost.includes(gid)) this.#applyOf(gid, token, { type: 'lease-lost' })
        }
      },
      unavailable: () => undefined,
    })
  }
}
