/**
 * The services of TCCs and messages, and the senders of messages. They use the
 * real barrier decision over rows in memory, and a ledger.
 */

import { type BranchAnswer, CHECK } from '@counterstep/core'
import type { Op } from '@counterstep/protocol'
import { type BarrierRow, barrierRows, decideBarrier, findOriginOp } from '@counterstep/protocol/barrier'
import type { MessagePlan, PreparedPlan, RecordedPlan } from '../clients/prepared-plan.ts'
import type { Random } from '../world/random.ts'
import type { World } from '../world/world.ts'
import { BROKEN, FAILURE, ONGOING, SUCCESS } from './branch-answers.ts'

/** One branch of one transaction, as its service knows it. The position CHECK stands for the sender. */
export interface ServiceState {
  rows: BarrierRow[]
  /** The number of effects of each op. */
  readonly effects: { [op in Op]?: number }
  /** The ops that were answered with success, really or as a null compensation. */
  readonly answered: { [op in Op]?: true }
}

/** Checks each effect at the instant at which it happens. */
interface EffectAudit {
  checkEffect(plan: PreparedPlan, branch: number, op: Op, state: ServiceState): void
}

export class PreparedParticipants {
  readonly #world: World
  readonly #audit: EffectAudit
  readonly #states = new Map<string, ServiceState>()
  readonly #callbacks = new Map<string, () => void>()

  constructor(world: World, audit: EffectAudit) {
    this.#world = world
    this.#audit = audit
  }

  state({ gid }: Pick<PreparedPlan, 'gid'>, branch: number): ServiceState {
    const key = `${gid}/${branch}`
    let state = this.#states.get(key)
    if (state === undefined) {
      state = { rows: [], effects: {}, answered: {} }
      this.#states.set(key, state)
    }
    return state
  }

  /** Handles one call at the instant at which its database transaction would commit. */
  commit(plan: PreparedPlan, branch: number, op: Op): BranchAnswer {
    const { faults, trace } = this.#world
    const random = this.#world.getRandom(plan.gid)
    if (random.chance(faults.flaky)) return BROKEN
    if (random.chance(faults.ongoing)) return ONGOING
    if (plan.kind === 'recorded') return this.#callBack(plan, random)
    const answer = branch === CHECK ? this.#queryBack(plan) : this.#decide(plan, branch, op)
    if (answer.result === 'success') this.state(plan, branch).answered[op] = true
    trace.mix(branch * 10 + (answer.result === 'success' ? 1 : 0))
    return answer
  }

  /** Tells what a callback of this workflow begins. */
  serveCallback({ gid }: RecordedPlan, begin: () => void): void {
    this.#callbacks.set(gid, begin)
  }

  /** The answer of a callback says nothing about the workflow, so any may come. */
  #callBack({ gid }: RecordedPlan, random: Random): BranchAnswer {
    this.#world.counters.callbacks++
    this.#callbacks.get(gid)?.()
    return random.chance(0.5) ? SUCCESS : FAILURE
  }

  /** Commits the sender's own database transaction, unless a query-back has refused it before. */
  commitSender(plan: MessagePlan): boolean {
    const state = this.state(plan, CHECK)
    const { decision, rows } = insert(state.rows, 'msg')
    if (decision !== 'run') {
      this.#world.counters.sendersRefused++
      return false
    }
    state.rows = rows
    return true
  }

  /**
   * Answers a query-back. Where the sender has not committed, it leaves a
   * row, so that the refused transaction never commits.
   */
  #queryBack(plan: PreparedPlan): BranchAnswer {
    const { counters } = this.#world
    const state = this.state(plan, CHECK)
    const { decision } = insert(state.rows, 'msg')
    if (decision === 'duplicate') {
      counters.checksYes++
      return SUCCESS
    }
    if (decision === 'run' && this.#world.wiring.flaw !== 'no-rollback-row')
      state.rows = [{ op: 'msg', reason: 'rollback' }]
    counters.checksNo++
    return FAILURE
  }

  #decide(plan: PreparedPlan, branch: number, op: Op): BranchAnswer {
    const { counters, wiring } = this.#world
    const state = this.state(plan, branch)
    const { decision, rows } = insert(state.rows, op)
    switch (decision) {
      case 'run':
        return this.#runBusiness(plan, branch, op, rows)
      case 'null-compensation':
        counters.nullCancels++
        if (wiring.flaw === 'no-null-compensation') return this.#runBusiness(plan, branch, op, rows)
        if (wiring.flaw !== 'no-anti-hanging') state.rows = rows
        return SUCCESS
      case 'duplicate':
        if (wiring.flaw === 'no-idempotency') return this.#runBusiness(plan, branch, op, rows)
        return SUCCESS
      case 'already-compensated':
        counters.hangingTries++
        return FAILURE
    }
  }

  #runBusiness(plan: PreparedPlan, branch: number, op: Op, rows: BarrierRow[]): BranchAnswer {
    const { faults } = this.#world
    const random = this.#world.getRandom(plan.gid)
    const refuses =
      plan.kind === 'tcc' && op === 'try'
        ? plan.refused[branch] === true
        : random.chance(faults.businessFailures / 4)
    if (refuses) return FAILURE
    const state = this.state(plan, branch)
    state.rows = rows
    state.effects[op] = (state.effects[op] ?? 0) + 1
    this.#audit.checkEffect(plan, branch, op, state)
    return SUCCESS
  }
}

function insert(before: readonly BarrierRow[], op: Op) {
  const rows = [...before]
  let inserted = 0
  for (const row of barrierRows(op)) {
    if (rows.some(({ op: standing }) => standing === row.op)) continue
    rows.push(row)
    inserted++
  }
  const hadOwn = before.some((row) => row.op === op)
  const decision = hadOwn
    ? decideBarrier(op, { ownInserted: false, standing: rows })
    : decideBarrier(op, {
        ownInserted: true,
        originInserted: findOriginOp(op) !== undefined && inserted === 2,
      })
  return { decision, rows }
}
