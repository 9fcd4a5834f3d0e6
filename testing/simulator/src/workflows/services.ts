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
  /** The step that has run, if it is a local one, as the barrier's row has it. */
  step: LocalStep | undefined
}

export interface LocalStep {
  readonly id: string
  readonly name: string
  readonly input: string
}

export type Committed =
  | { readonly type: 'answered'; readonly answer: BranchAnswer }
  | { readonly type: 'refused'; readonly code: 'SLOT_TAKEN' | 'ALREADY_COMPENSATED' }

/** Checks each effect at the instant at which it happens. */
interface EffectAudit {
  checkEffect(gid: string, id: string, op: SagaOp, state: ServiceState): void
}

/** Counts what a test of seals must have met. */
export interface SlotCounts {
  /** A step had its effect within a plan call. */
  ranWithin: number
  /** A slot was sealed of which no step had run. */
  sealedEmpty: number
  /** A slot was sealed of which the record did not tell, and a step had run. */
  sealedUntold: number
  /** A step came after its seal. */
  blocked: number
  /** The slot had the row of another step. */
  taken: number
  /** A generation has begun behind the first one. */
  generations: number
  /** Answers that were too large to be kept. */
  large: number
}

export class Services {
  readonly #world: World
  readonly #audit: EffectAudit
  readonly #states = new Map<string, ServiceState>()
  readonly counts: SlotCounts = {
    ranWithin: 0,
    sealedEmpty: 0,
    sealedUntold: 0,
    blocked: 0,
    taken: 0,
    generations: 0,
    large: 0,
  }
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
      step: undefined,
    }
    this.#states.set(key, state)
    return state
  }

  /** Lists the slots of a workflow at which a step has had its effect. */
  listSlots(gid: string): readonly (readonly [slot: string, state: ServiceState])[] {
    const prefix = `${gid} ~`
    return [...this.#states].flatMap(([key, state]) =>
      key.startsWith(prefix) && state.step !== undefined ? [[key.slice(gid.length + 1), state] as const] : [],
    )
  }

  /** Handles a call at the instant at which its database transaction would commit. */
  commit(
    gid: string,
    id: string,
    op: SagaOp,
    isSure: boolean,
    local?: { readonly step: LocalStep; readonly checksName: boolean },
  ): Committed {
    const { faults } = this.#world
    const random = this.#world.getRandom(gid)
    if (random.chance(faults.flaky)) return toAnswered(BROKEN)
    if (random.chance(faults.ongoing)) return toAnswered(ONGOING)
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
    if (decision === 'already-compensated') {
      if (local !== undefined) this.counts.blocked++
      return { type: 'refused', code: 'ALREADY_COMPENSATED' }
    }
    const isOther = state.step !== undefined && local !== undefined && state.step.name !== local.step.name
    if (isOther && local.checksName) {
      this.counts.taken++
      return { type: 'refused', code: 'SLOT_TAKEN' }
    }
    if (decision === 'run') {
      // A service may refuse one attempt and take the next, since the refused one leaves no row.
      if (op === 'action' && !isSure && random.chance(Math.max(faults.businessFailures, 0.1)))
        return toAnswered(FAILURE)
      state[op]++
      if (op === 'action') state.step = local?.step
      this.#audit.checkEffect(gid, id, op, state)
    }
    state.rows = rows
    if (op === 'compensate') {
      state.isCompensated = true
      return toAnswered(SUCCESS)
    }
    state.value ??= ++this.#value
    return toAnswered({ ...SUCCESS, body: `{"n":${state.value}}` })
  }
}

function toAnswered(answer: BranchAnswer): Committed {
  return { type: 'answered', answer }
}
