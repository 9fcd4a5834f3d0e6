/** The services of a workflow, its handler among them, behind the real barrier decision. */
import type { BranchAnswer, SagaOp } from '@counterstep/core'
import { type BarrierRow, barrierRows, decideBarrier } from '@counterstep/protocol/barrier'
import { BROKEN, FAILURE, ONGOING, SUCCESS } from '../branches/branch-answers.ts'
import type { World } from '../world/world.ts'

export interface ServiceState {
  rows: BarrierRow[]
  action: number
  compensate: number
  isCompensated: boolean
  value: number | undefined
}

/** Checks each effect at the instant at which it happens. */
interface EffectAudit {
  checkEffect(gid: string, id: string, op: SagaOp, state: ServiceState): void
}

export class Services {
  readonly #world: World
  readonly #audit: EffectAudit
  readonly #states = new Map<string, ServiceState>()
  #value = 0

  constructor(world: World, audit: EffectAudit) {
    this.#world = world
    this.#audit = audit
  }

  state(gid: string, id: string): ServiceState {
    const key = `${gid} ${id}`
    const state = this.#states.get(key) ?? {
      rows: [],
      action: 0,
      compensate: 0,
      isCompensated: false,
      value: undefined,
    }
    this.#states.set(key, state)
    return state
  }

  /** Handles a call at the instant at which its database transaction would commit. */
  commit(gid: string, id: string, op: SagaOp, isSure: boolean): BranchAnswer {
    const { faults } = this.#world
    const random = this.#world.getRandom(gid)
    if (random.chance(faults.flaky)) return BROKEN
    if (random.chance(faults.ongoing)) return ONGOING
    const state = this.state(gid, id)
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
    if (decision === 'already-compensated') return FAILURE
    if (decision === 'run') {
      // A service may refuse one attempt and take the next, since the refused one leaves no row.
      if (op === 'action' && !isSure && random.chance(Math.max(faults.businessFailures, 0.1))) return FAILURE
      state[op]++
      this.#audit.checkEffect(gid, id, op, state)
    }
    state.rows = rows
    if (op === 'compensate') {
      state.isCompensated = true
      return SUCCESS
    }
    state.value ??= ++this.#value
    return { ...SUCCESS, body: `{"n":${state.value}}` }
  }
}
