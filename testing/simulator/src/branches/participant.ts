/**
 * The services behind the branches of sagas. They use the real barrier
 * decision over rows in memory, and a ledger of effects.
 */

import type { BranchAnswer, SagaOp } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { type BarrierRow, barrierRows, decideBarrier } from '@counterstep/protocol/barrier'
import { writeValue } from '../clients/answers-plan.ts'
import type { SagaPlan } from '../clients/saga-plan.ts'
import type { World } from '../world/world.ts'
import { BROKEN, FAILURE, ONGOING, SUCCESS } from './branch-answers.ts'

/** One branch of one transaction, as its service knows it. */
export interface BranchState {
  rows: BarrierRow[]
  /** The effects of the action, each as its place in the ledger. */
  readonly action: number[]
  readonly compensate: number[]
  /** A compensation was answered with success, really or as a null compensation. */
  isCompensated: boolean
  /** An action was answered with failure. */
  isRefused: boolean
  /** When its rows were last written. */
  rowsAt: number
  /** The JSON of the value in the answer of the action. */
  value: string | undefined
}

/** Checks each effect at the instant at which it happens. */
interface EffectAudit {
  checkEffect(plan: SagaPlan, branch: number, op: SagaOp, state: BranchState): void
}

/** Hears each value that a branch answers with success. */
interface AnswerAudit {
  noteAnswer(gid: Gid, branch: number, value: string): void
}

const PURGE_MS = 1_500
const TORN = 0.05

export class Participants {
  readonly #world: World
  readonly #audit: EffectAudit
  readonly #answers: AnswerAudit
  readonly #branches = new Map<number, BranchState>()
  #ledger = 0
  #value = 0
  /** The sum of all accounts. */
  balance = 0

  constructor(world: World, audit: EffectAudit, answers: AnswerAudit) {
    this.#world = world
    this.#audit = audit
    this.#answers = answers
  }

  branch(saga: number, branch: number): BranchState {
    const key = saga * 64 + branch
    let state = this.#branches.get(key)
    if (state === undefined) {
      state = {
        rows: [],
        action: [],
        compensate: [],
        isCompensated: false,
        isRefused: false,
        rowsAt: 0,
        value: undefined,
      }
      this.#branches.set(key, state)
    }
    return state
  }

  /** Handles one call at the instant at which its database transaction would commit. */
  commit(plan: SagaPlan, branch: number, op: SagaOp): BranchAnswer {
    const { faults, trace } = this.#world
    const random = this.#world.getRandom(plan.gid)
    if (random.chance(faults.flaky)) return BROKEN
    if (random.chance(faults.ongoing)) return ONGOING
    const answer = this.#decide(plan, branch, op)
    const state = this.branch(plan.saga, branch)
    if (op === 'action' && answer.result === 'failure') state.isRefused = true
    if (op === 'compensate' && answer.result === 'success') state.isCompensated = true
    trace.mix(plan.saga * 1000 + branch * 10 + (answer.result === 'success' ? 1 : 0))
    const hasValues = plan.definition.values !== undefined
    return op === 'action' && answer.result === 'success' && hasValues
      ? { ...answer, body: this.#writeAnswer(plan, branch, state) }
      : answer
  }

  /** A service with a barrier answers a repeated call as the first time, and one without it may answer anew. */
  #writeAnswer({ gid, answers }: SagaPlan, branch: number, state: BranchState): string {
    if (state.value === undefined || answers.isNew[branch] === true)
      state.value = writeValue(answers.kinds[branch] ?? 'silent', ++this.#value)
    if (state.value === undefined) return '{}'
    this.#answers.noteAnswer(gid, branch, state.value)
    return `{"id":${state.value}}`
  }

  #decide(plan: SagaPlan, branch: number, op: SagaOp): BranchAnswer {
    const { counters, faults, wiring } = this.#world
    const random = this.#world.getRandom(plan.gid)
    const state = this.branch(plan.saga, branch)
    if (wiring.flaw === 'barrier-purged' && this.#world.now - state.rowsAt > PURGE_MS) state.rows = []
    const rows = [...state.rows]
    let inserted = 0
    for (const row of barrierRows(op)) {
      if (rows.some(({ op: standing }) => standing === row.op)) continue
      rows.push(row)
      inserted++
    }
    const hadOwn = state.rows.some((row) => row.op === op)
    const decision = hadOwn
      ? decideBarrier(op, { ownInserted: false, standing: rows })
      : decideBarrier(op, { ownInserted: true, originInserted: op === 'compensate' && inserted === 2 })
    switch (decision) {
      case 'run':
        return this.#runBusiness(plan, branch, op, rows)
      case 'null-compensation':
        counters.nullCompensations++
        if (wiring.flaw === 'no-null-compensation') return this.#runBusiness(plan, branch, op, rows)
        if (wiring.flaw !== 'no-anti-hanging') {
          state.rows = rows
          state.rowsAt = this.#world.now
        }
        return SUCCESS
      case 'duplicate':
        counters.duplicates++
        if (wiring.flaw === 'no-idempotency') return this.#runBusiness(plan, branch, op, rows)
        return SUCCESS
      case 'already-compensated':
        counters.hangingRefused++
        return random.chance(faults.flaky) ? BROKEN : FAILURE
    }
  }

  /** A compensation and a retriable may say no now and then, but not for good. */
  #mayRefuseForGood({ definition }: SagaPlan, branch: number, op: SagaOp): boolean {
    return op === 'action' && definition.branches[branch]?.role !== 'retriable'
  }

  #runBusiness(plan: SagaPlan, branch: number, op: SagaOp, rows: BarrierRow[]): BranchAnswer {
    const { counters, faults } = this.#world
    const random = this.#world.getRandom(plan.gid)
    const refuses = this.#mayRefuseForGood(plan, branch, op)
      ? plan.refused[branch] === true
      : random.chance(op === 'action' ? faults.flaky : faults.flaky * faults.businessFailures)
    if (refuses) {
      // The rows are rolled back, too, so a later copy of the call asks the business again.
      counters.businessFailures++
      return FAILURE
    }
    const state = this.branch(plan.saga, branch)
    state.rows = rows
    state.rowsAt = this.#world.now
    if (this.#world.wiring.flaw === 'barrier-row-apart' && random.chance(TORN)) return BROKEN
    state[op].push(++this.#ledger)
    this.balance += (op === 'action' ? 1 : -1) * (plan.amounts[branch] ?? 0)
    this.#audit.checkEffect(plan, branch, op, state)
    return SUCCESS
  }
}
