import {
  type Clock,
  type FindOrigin,
  holdBack,
  isBusy,
  measureRoom,
  roomWaitersMax,
  shareBounds,
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
import { Targets } from './targets.ts'

export interface BulkheadParts {
  readonly settings: TurnSettings & Pick<EngineSettings, 'inFlightMax' | 'recoveryInFlightMax' | 'holdMs'>
  readonly findOrigin: FindOrigin
  readonly listedOrigins?: readonly string[]
  readonly clock: Clock
  readonly alarms: AlarmClock
  readonly observer: EngineObserver
}

/** A target that goes on being over its share is reported so often at most. */
const TELL_MS = 60_000

/** What keeps one target, whatever it does, from taking what the others need. */
export class Bulkhead {
  readonly turns: CallTurns
  readonly #parts: BulkheadParts
  readonly #targets: Targets
  readonly #fresh: Pool
  readonly #recovered: Pool
  readonly #freshWaiters: Pool
  readonly #recoveredWaiters: Pool

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

  /** `places`: how many the transaction holds at each target. */
  places(isRecovered: boolean, places: number): HeldPlaces {
    return isRecovered
      ? new HeldPlaces(this.#recovered, this.#recoveredWaiters, places)
      : new HeldPlaces(this.#fresh, this.#freshWaiters, places)
  }

  /** Takes its places for each target of a submit. Undefined: one of them is over its share, and nothing was taken. */
  admit(targets: readonly Target[], places: number): Admission | undefined {
    for (const target of targets) {
      if (this.#fresh.mayTake(target)) continue
      this.report(target)
      return undefined
    }
    return new Admission(this.#fresh, targets, places)
  }

  /**
   * How long a transaction waits that has found no room at this target; longer than `holdMs` if it is to be given back, as it
   * is where as many as may wait for this target in memory already.
   */
  waitForRoom(target: Target, places: HeldPlaces, jitter01: number): number {
    const { clock, settings } = this.#parts
    const now = clock.now()
    const wait = { answeredMs: now - target.answeredAt, waitedMs: places.noRoomMs(now) }
    const waitMs = waitForRoomMs(wait, jitter01)
    const mayWait = waitMs !== undefined && waitMs <= settings.holdMs && places.waitForRoom(target)
    return mayWait ? waitMs : this.holdBack(target, jitter01)
  }

  /** How long a transaction is given back that finds no room at this target. */
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

  /** To the log, where an operator reads which target it is; callers are not told its address. */
  report(target: Target): void {
    const { clock, observer } = this.#parts
    const now = clock.now()
    if (now - target.toldAt < TELL_MS) return
    target.toldAt = now
    observer.event({ level: 'warn', name: 'target-over-share', detail: target.name })
  }

  /** Targets that can have no more of something. Counted when asked for. */
  get targetsAtShare(): number {
    const { fresh, closing, recovered } = this.turns
    return this.#targets
      .all()
      .filter(
        (target) =>
          !target.isIdle &&
          (!this.#fresh.mayTake(target) ||
            !this.#recovered.mayGoOn(target) ||
            [fresh, closing, recovered].some((lane) => lane.isFullFor(target))),
      ).length
  }

  /** What is held for all targets together: nothing once all has ended. */
  get held(): number {
    return this.#targets
      .all()
      .reduce((sum, { held, waiting }) => held.reduce((total, count) => total + count, sum + waiting), 0)
  }
}
