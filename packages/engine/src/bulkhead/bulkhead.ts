import {
  type Clock,
  type FindOrigin,
  holdBack,
  isBusy,
  type LargeRowTurn,
  measureRoom,
  roomWaitersMax,
  shareBounds,
  takeLargeRowTurn,
  waitForRoomMs,
} from '@counterstep/core'
import type { AlarmClock } from '../alarm-clock.ts'
import type { EngineObserver } from '../observer.ts'
import type { EngineSettings } from '../settings.ts'
import { Admission } from './admission.ts'
import { CallTurns, type TurnSettings } from './call-turns.ts'
import { HeldPlaces } from './held-places.ts'
import { Pool } from './pool.ts'
import type { Target } from './target.ts'
import { type Destination, Targets } from './targets.ts'

export interface BulkheadParts {
  readonly settings: TurnSettings & Pick<EngineSettings, 'inFlightMax' | 'recoveryInFlightMax' | 'holdMs'>
  readonly findOrigin: FindOrigin
  readonly listedOrigins?: readonly string[]
  readonly clock: Clock
  readonly alarms: AlarmClock
  readonly observer: EngineObserver
}

/** How fast large rows come back to a target, and its plans are read. */
type Pace = Pick<Target, 'nextLargeRowAt' | 'plansRestUntil'>

/** The least time between two reports about one target that stays over its share. */
const TELL_MS = 60_000

/** Bounds the places that each target may use, so that no target can take those that the others need. */
export class Bulkhead {
  readonly turns: CallTurns
  readonly #parts: BulkheadParts
  readonly #targets: Targets
  readonly #fresh: Pool
  readonly #recovered: Pool
  readonly #freshWaiters: Pool
  readonly #recoveredWaiters: Pool
  readonly #unlisted: Pace = { nextLargeRowAt: 0, plansRestUntil: 0 }
  /** When the next large row may come back from a wait, by this node's clock. Waits have no target. */
  nextLargeRowAt = 0

  constructor(parts: BulkheadParts) {
    const { settings, findOrigin, listedOrigins = [], clock, alarms } = parts
    const listedTargets = new Set(listedOrigins).size
    const bound = (placesMax: number) => shareBounds(placesMax, settings.targetShare, listedTargets)
    const [freshMax, recoveredMax] = [settings.inFlightMax, settings.recoveryInFlightMax]
    this.#parts = parts
    this.#targets = new Targets(findOrigin, () => clock.now(), listedOrigins)
    this.#fresh = new Pool('freshTransactions', bound(freshMax))
    this.#recovered = new Pool('recoveredTransactions', bound(recoveredMax))
    this.#freshWaiters = new Pool('freshWaiters', bound(roomWaitersMax(freshMax)))
    this.#recoveredWaiters = new Pool('recoveredWaiters', bound(roomWaitersMax(recoveredMax)))
    this.turns = new CallTurns({ settings, listedTargets, clock, alarms })
  }

  find(url: string): Target {
    return this.#targets.find(url)
  }

  findDestination(url: string): Destination {
    return this.#targets.findDestination(url)
  }

  /** Lists the services that were called last, and the origin of each. */
  origins(): ReadonlyMap<string, string> {
    return this.#targets.origins()
  }

  /** Creates the places of a run. `places` is the number that the transaction takes at each target. */
  places(isRecovered: boolean, places: number): HeldPlaces {
    return isRecovered
      ? new HeldPlaces(this.#recovered, this.#recoveredWaiters, places)
      : new HeldPlaces(this.#fresh, this.#freshWaiters, places)
  }

  /**
   * Takes the places for each target of a submit. Returns undefined if one of them is over its share, and then no
   * place was taken.
   */
  admit(targets: readonly Target[], places: number): Admission | undefined {
    for (const target of targets) {
      if (this.#fresh.mayTake(target)) continue
      this.report(target)
      return undefined
    }
    return new Admission(this.#fresh, targets, places)
  }

  /**
   * Returns how long a transaction waits that has found no place at this target. The time is longer than `holdMs` if
   * the transaction is to be given back, for instance because too many already wait for this target in memory.
   */
  waitForRoom(target: Target, places: HeldPlaces, jitter01: number, leastMsOfRow: () => number): number {
    const { clock, settings } = this.#parts
    const now = clock.now()
    const wait = { answeredMs: now - target.answeredAt, waitedMs: places.measureNoRoomMs(now) }
    const waitMs = waitForRoomMs(wait, jitter01)
    const mayWait = waitMs !== undefined && waitMs <= settings.holdMs && places.waitForRoom(target)
    return mayWait ? waitMs : this.holdBack(target, jitter01, leastMsOfRow())
  }

  /** Returns for how long a transaction that finds no place at this target is given back. */
  holdBack(target: Target, jitter01: number, leastMs = 0): number {
    const { clock, settings } = this.#parts
    const { holdMs } = settings
    const now = clock.now()
    const { comeBackAt, answeredAt } = target
    target.roomRate = measureRoom(target.roomRate, target.recoveredAnswers, now)
    const { everyMs: roomEveryMs } = target.roomRate
    const isOnlyBusy = isBusy(now - answeredAt)
    const held = holdBack({ comeBackAt, now, holdMs, leastMs, isBusy: isOnlyBusy, roomEveryMs, jitter01 })
    target.comeBackAt = held.comeBackAt
    this.report(target)
    return held.waitMs
  }

  /** Takes the turn at which a large row comes back to this target. Undefined: the row is small. */
  takeLargeRowTurn(target: Target, places: number): LargeRowTurn | undefined {
    const pace = this.#findPace(target)
    const now = this.#parts.clock.now()
    const turn = takeLargeRowTurn({ nextAt: pace.nextLargeRowAt, now, places })
    if (turn !== undefined) pace.nextLargeRowAt = turn.nextAt
    return turn
  }

  /** A plan of this target took long to read. Its rest puts off the turns of large rows that are taken from now on. */
  restFromPlan(target: Target, ms: number): void {
    const pace = this.#findPace(target)
    const now = this.#parts.clock.now()
    pace.nextLargeRowAt = Math.max(pace.nextLargeRowAt, now) + ms
    pace.plansRestUntil = now + ms
  }

  /** Tells whether a plan that may take long must not be read yet, whatever turn it has had. */
  isRestingFromPlan(target: Target): boolean {
    const { plansRestUntil } = this.#findPace(target)
    return this.#parts.clock.now() < plansRestUntil
  }

  /** All targets that are not listed share their turns and their rest, since names cost nothing. */
  #findPace(target: Target): Pace {
    return target.isListed ? target : this.#unlisted
  }

  /** Reports a target to the log, where an operator reads its name. Callers are not told its address. */
  report(target: Target): void {
    const { clock, observer } = this.#parts
    const now = clock.now()
    if (now - target.toldAt < TELL_MS) return
    target.toldAt = now
    observer.event({ level: 'warn', name: 'target-over-share', detail: target.name })
  }

  /** Counts the targets that can get no more places in some pool. */
  get targetsAtShare(): number {
    const { fresh, closing, recovered } = this.turns
    return this.#targets
      .all()
      .filter(
        (target) =>
          !target.isIdle &&
          (!this.#fresh.mayTake(target) ||
            !this.#recovered.mayGoOn(target) ||
            [fresh, closing, recovered].some((limiter) => limiter.isFullFor(target))),
      ).length
  }

  /** Counts the places and the waiting calls of all targets. It is 0 once everything has ended. */
  get held(): number {
    return this.#targets
      .all()
      .reduce((sum, { held, waiting }) => held.reduce((total, count) => total + count, sum + waiting), 0)
  }
}
