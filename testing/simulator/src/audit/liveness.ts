/** After the heal: everything healthy ends in time, then the poison is cured and ends too, then all is still. */
import { RETRY_BOUNDS, retryFloorMs } from '@counterstep/core'
import { isFinalStatus } from '@counterstep/protocol'
import type { Node } from '../nodes/node.ts'
import { EVENT } from '../world/event-code.ts'
import type { SimStore } from '../world/sim-store.ts'
import type { World } from '../world/world.ts'
import type { Auditor } from './auditor.ts'

/** L1 and L3: from the heal, or from the cure, to the last end, with what the clocks have jumped. */
export const ENDS_WITHIN_MS = 10_000
const OPERATOR_MS = 250
/** A call that has failed very often, as by an operator who asks for it again and again, waits so long for its next turn. */
const LONGEST_WAIT_MS = retryFloorMs(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, RETRY_BOUNDS)
/** From the last end to the silence: what runs of lost leases need to hear of it. */
const CALM_MS = 2_000

export class Liveness {
  readonly #world: World
  readonly #auditor: Auditor
  readonly #store: SimStore
  readonly #nodes: readonly Node[]
  readonly #restMs: number
  #healedAt = 0
  #curedAt: number | undefined
  #settledAt: number | undefined
  /** The longest of the two waits. */
  #longestMs = 0

  constructor(world: World, auditor: Auditor, store: SimStore, nodes: readonly Node[], restMs: number) {
    this.#world = world
    this.#auditor = auditor
    this.#store = store
    this.#nodes = nodes
    this.#restMs = restMs
  }

  /** Less what clocks have jumped. */
  get longestMs(): number {
    return Math.max(0, this.#longestMs - this.#world.jumpedMs)
  }

  start(healAt: number): void {
    this.#healedAt = healAt
    this.#world.after(healAt + 1, EVENT.nemesis, () => this.#look())
  }

  #look(): void {
    const world = this.#world
    if (this.#curedAt === undefined && this.#isSettled()) {
      this.#curedAt = world.now
      this.#longestMs = world.now - this.#healedAt
      if (world.trace.isOn && world.poisoned.size > 0) world.trace.line(world.now, 'cured')
      world.poisoned.clear()
    }
    // Not for good: what a client that has died asked for may only now come.
    const isSettled = this.#curedAt !== undefined && this.#isSettled()
    this.#settledAt = isSettled ? (this.#settledAt ?? world.now) : undefined
    if (this.#settledAt !== undefined && world.now >= this.#settledAt + CALM_MS) this.#hush(this.#settledAt)
    else if (world.now < this.#lookUntil) world.after(OPERATOR_MS, EVENT.nemesis, () => this.#look())
    else this.#giveUp()
  }

  get #lookUntil(): number {
    const calm = this.#settledAt === undefined ? 0 : CALM_MS
    return (this.#curedAt ?? this.#healedAt) + this.#endsWithinMs + this.#world.jumpedMs + calm
  }

  /** A row that was claimed too often during the faults ends its rest first, and a poisoned one its wait for the next call. */
  get #endsWithinMs(): number {
    const { rested, poisoned } = this.#world.counters
    const isCured = this.#curedAt !== undefined && poisoned > 0
    return ENDS_WITHIN_MS + (rested > 0 ? this.#restMs : 0) + (isCured ? LONGEST_WAIT_MS : 0)
  }

  /** But for what is poisoned. */
  #isSettled(): boolean {
    const { poisoned } = this.#world
    for (const [gid, log] of this.#auditor.logs) {
      if (poisoned.has(gid)) continue
      if (!log.isAcknowledged && !log.isOrphan) return false
      const row = this.#store.read(gid)
      if (row !== undefined && !isFinalStatus(row.status)) return false
    }
    return true
  }

  #hush(settledAt: number): void {
    this.#longestMs = Math.max(this.#longestMs, settledAt - (this.#curedAt ?? settledAt))
    for (const { name, running } of this.#nodes) {
      if (running > 0)
        this.#auditor.report('L5', name, `${running} runs are left of transactions that are final`)
    }
    this.#world.isQuiet = true
  }

  /** What is left without an end the final audit calls L1; with poison beside it, it is the poison that counts. */
  #giveUp(): void {
    const { poisoned } = this.#world
    if (poisoned.size > 0)
      this.#auditor.report('L3', [...poisoned].join(), 'others have not ended while these were poisoned')
    this.#longestMs = this.#endsWithinMs
    this.#world.isQuiet = true
  }
}
