/** The shared state of a world: time, randomness, faults, the wiring, the counters and the trace. */

import type { Wiring } from '../mutants/wiring.ts'
import { type Counters, newCounters } from '../seeds/counters.ts'
import type { Reduction } from '../seeds/reduction.ts'
import { SimClock } from './clock.ts'
import { drawFaults, type FaultProfile, withoutFaults } from './faults.ts'
import { type Event, EventHeap, type EventOwner } from './heap.ts'
import { Random } from './random.ts'
import { Trace } from './trace.ts'

/** The reading of the store's clock at virtual time 0. */
const STORE_EPOCH_MS = 1_700_000_000_000

export class World {
  readonly #seed: number
  /** The random stream of the world itself. */
  readonly random: Random
  readonly trace: Trace
  readonly wiring: Wiring
  readonly counters: Counters = newCounters()
  readonly poisoned = new Set<string>()
  readonly #driftMax: number
  faults: FaultProfile
  now = 0
  readonly storeClock = new SimClock(this, STORE_EPOCH_MS, 1)
  events = 0
  /** All transactions are final. The nodes stand still, but requests under way still arrive. */
  isQuiet = false
  isHealed = false
  /** Requests that reach the store wait there until this instant. */
  storeHangsUntil = 0
  /** The total time that clocks have jumped or stood still. */
  jumpedMs = 0
  /** The largest age that a node's reading of the store's clock had when it arrived. */
  lagMs = 0
  #sequence = 0
  #ids = 0
  readonly #heap = new EventHeap()
  readonly #randoms = new Map<string, Random>()

  constructor(seed: number, wiring: Wiring, tracing: boolean, { off }: Reduction) {
    this.#seed = seed
    this.random = new Random(seed)
    this.trace = new Trace(tracing)
    this.wiring = wiring
    this.faults = withoutFaults(
      drawFaults(this.random, this.getRandom('room'), this.getRandom('operator')),
      off,
    )
    this.#driftMax = this.faults.clockDrift
  }

  /**
   * Returns a random stream of its own for each transaction and node, so that a reduction changes little of the rest.
   */
  getRandom(name: string): Random {
    let random = this.#randoms.get(name)
    if (random === undefined) {
      random = new Random(this.#seed ^ hashName(name))
      this.#randoms.set(name, random)
    }
    return random
  }

  get storeNow(): number {
    return Math.floor(this.storeClock.now())
  }

  /** The largest error of a correct node's estimate of the store's time. */
  get skewMs(): number {
    return this.jumpedMs + Math.ceil(2 * this.#driftMax * this.now)
  }

  /** Whether it is before this instant by the store's clock, even if a clock has the largest possible error. */
  isBefore(instant: number): boolean {
    return this.storeNow + this.skewMs < instant
  }

  /** Notes that a node has just got this reading of the store's clock. */
  noteReading(storeNow: number): void {
    this.lagMs = Math.max(this.lagMs, this.storeNow - storeNow)
  }

  /** Returns an id that is never issued twice, whatever is lost. */
  nextId(): number {
    return ++this.#ids
  }

  /** Adds an event of the world itself or, with an owner, of a process that may die or may have died before. */
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

  /** Runs one event. The result is false when there is none. */
  step(): boolean {
    const event = this.#heap.pop()
    if (event === undefined) return false
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

function hashName(name: string): number {
  let hash = 0x811c9dc5
  for (let position = 0; position < name.length; position++) {
    hash = Math.imul(hash ^ name.charCodeAt(position), 0x01000193)
  }
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
}
