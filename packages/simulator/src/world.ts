/** What everything in a world shares: time, chance, faults, the wiring, and who watches. */
import { type Counters, newCounters } from './counters.ts'
import { drawFaults, type FaultProfile } from './faults.ts'
import { type Event, EventHeap, type EventOwner } from './heap.ts'
import type { Wiring } from './mutants.ts'
import { Random } from './random.ts'
import { Trace } from './trace.ts'

/** By the store's clock, at virtual time 0. */
export const STORE_EPOCH_MS = 1_700_000_000_000

export class World {
  readonly random: Random
  readonly trace: Trace
  readonly wiring: Wiring
  readonly counters: Counters = newCounters()
  faults: FaultProfile
  now = 0
  events = 0
  /** Everything is final: the nodes are still, what is on the wire still arrives. */
  isQuiet = false
  isHealed = false
  #sequence = 0
  #ids = 0
  readonly #heap = new EventHeap()

  constructor(seed: number, wiring: Wiring, tracing: boolean) {
    this.random = new Random(seed)
    this.trace = new Trace(tracing)
    this.wiring = wiring
    this.faults = drawFaults(this.random)
  }

  get storeNow(): number {
    return STORE_EPOCH_MS + this.now
  }

  /** Never twice, whatever is lost. */
  nextId(): number {
    return ++this.#ids
  }

  /** An event of the world itself, or, with an owner, of a process that may die, or may have died, before. */
  after(
    delayMs: number,
    code: number,
    run: () => void,
    owner?: EventOwner,
    incarnation = owner?.incarnation ?? 0,
  ): void {
    this.#heap.push({
      at: this.now + Math.max(0, Math.ceil(delayMs)),
      sequence: ++this.#sequence,
      code,
      owner,
      incarnation,
      run,
    })
  }

  /** One event; false when there is none up to `until`. */
  step(until: number): boolean {
    const event = this.#heap.pop()
    if (event === undefined) return false
    if (event.at > until) {
      this.#heap.push(event)
      return false
    }
    this.now = Math.max(this.now, event.at)
    if (event.owner !== undefined && !this.#mayRun(event, event.owner)) return true
    this.events++
    this.trace.mix(event.at)
    this.trace.mix(event.code)
    event.run()
    return true
  }

  #mayRun(event: Event, owner: EventOwner): boolean {
    if (owner.incarnation !== event.incarnation || this.isQuiet) return false
    if (owner.pausedUntil <= this.now) return true
    event.at = owner.pausedUntil
    event.sequence = ++this.#sequence
    this.#heap.push(event)
    return false
  }
}
