/**
 * Checks after the heal that all healthy transactions end in time or are marked for a person, that the poisoned ones end after their cure, and
 * that then nothing runs any more.
 */
import { RETRY_BOUNDS, retryFloorMs } from '@counterstep/core'
import { isFinalStatus } from '@counterstep/protocol'
import type { Plan } from '../clients/plan.ts'
import { sumWaits } from '../clients/stages-plan.ts'
import type { Node } from '../nodes/node.ts'
import { EVENT } from '../world/event-code.ts'
import type { SimStore } from '../world/sim-store.ts'
import type { World } from '../world/world.ts'
import type { Auditor } from './auditor.ts'
import { isStuck } from './usable-values.ts'

/** The limit of L1 and L3: from the heal, or from the cure, to the last end. The jumps of clocks are added to it. */
export const ENDS_WITHIN_MS = 10_000
const OPERATOR_MS = 250
/** The wait of a call that has failed very often, for instance because an operator retried it again and again. */
const LONGEST_WAIT_MS = retryFloorMs(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, RETRY_BOUNDS)
/** The time from the last end until nothing may run any more. Runs with lost leases need it to learn of their loss. */
const CALM_MS = 2_000

function findWaitsMs(plan: Plan, storeNow: number): number {
  return plan.kind === 'saga' ? sumWaits(plan.definition.branches, storeNow) : 0
}

export class Liveness {
  readonly #world: World
  readonly #auditor: Auditor
  readonly #store: SimStore
  readonly #nodes: readonly Node[]
  readonly #restMs: number
  /** The longest time that the waits of one saga may take. */
  readonly #waitsMs: number
  #healedAt = 0
  #curedAt: number | undefined
  #settledAt: number | undefined
  /** The longer one of the two waits. */
  #longestMs = 0

  constructor(world: World, auditor: Auditor, store: SimStore, nodes: readonly Node[], restMs: number) {
    this.#world = world
    this.#auditor = auditor
    this.#store = store
    this.#nodes = nodes
    this.#restMs = restMs
    this.#waitsMs = Math.max(
      0,
      ...[...auditor.logs.values()].map(({ plan }) => findWaitsMs(plan, world.storeNow)),
    )
  }

  /** The longest wait, less the time that clocks have jumped. */
  get longestMs(): number {
    return Math.max(0, this.#longestMs - this.#world.jumpedMs)
  }

  start(healAt: number): void {
    this.#healedAt = healAt
    this.#world.after(healAt + 1, EVENT.nemesis, () => this.#check())
  }

  #check(): void {
    const world = this.#world
    if (this.#curedAt === undefined && this.#isSettled()) {
      this.#curedAt = world.now
      this.#longestMs = world.now - this.#healedAt
      if (world.trace.isOn && world.poisoned.size > 0) world.trace.line(world.now, 'cured')
      world.poisoned.clear()
    }
    // The world may become unsettled again, because a request of a dead client may arrive only now.
    const isSettled = this.#curedAt !== undefined && this.#isSettled()
    this.#settledAt = isSettled ? (this.#settledAt ?? world.now) : undefined
    if (this.#settledAt !== undefined && world.now >= this.#settledAt + CALM_MS)
      this.#quieten(this.#settledAt)
    else if (world.now < this.#checkUntil) world.after(OPERATOR_MS, EVENT.nemesis, () => this.#check())
    else this.#giveUp()
  }

  get #checkUntil(): number {
    const calm = this.#settledAt === undefined ? 0 : CALM_MS
    return (this.#curedAt ?? this.#healedAt) + this.#endsWithinMs + this.#world.jumpedMs + calm
  }

  /**
   * The time limit. A row that was claimed too often during the faults must first end
   * its rest, and a poisoned one its wait for the next call.
   */
  get #endsWithinMs(): number {
    const { rested, poisoned } = this.#world.counters
    const isCured = this.#curedAt !== undefined && poisoned > 0
    return ENDS_WITHIN_MS + this.#waitsMs + (rested > 0 ? this.#restMs : 0) + (isCured ? LONGEST_WAIT_MS : 0)
  }

  /** Whether all transactions but the poisoned ones have ended or wait for a person. */
  #isSettled(): boolean {
    const { poisoned } = this.#world
    for (const [gid, log] of this.#auditor.logs) {
      if (poisoned.has(gid)) continue
      if (!log.isAcknowledged && !log.isOrphan) return false
      const row = this.#store.read(gid)
      if (row !== undefined && !isFinalStatus(row.status) && !isStuck(row)) return false
    }
    return true
  }

  #quieten(settledAt: number): void {
    this.#longestMs = Math.max(this.#longestMs, settledAt - (this.#curedAt ?? settledAt))
    for (const { name, running } of this.#nodes) {
      const left = running.filter((gid) => isFinalStatus(this.#store.read(gid)?.status ?? 'stopped'))
      if (left.length > 0)
        this.#auditor.report('L5', name, `${left.length} runs are left of transactions that are final`)
    }
    this.#world.isQuiet = true
  }

  /**
   * Ends the world. The final audit reports unfinished transactions as L1.
   * Beside poisoned ones this is also a violation of L3.
   */
  #giveUp(): void {
    const { poisoned } = this.#world
    if (poisoned.size > 0)
      this.#auditor.report('L3', [...poisoned].join(), 'others have not ended while these were poisoned')
    this.#longestMs = this.#endsWithinMs
    this.#world.isQuiet = true
  }
}
