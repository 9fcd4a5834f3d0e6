import type { CalledOp } from '@counterstep/core'
import { type Clock, nextTurnAt, paceWaitMs, shareBounds } from '@counterstep/core'
import type { AlarmClock } from '../alarm-clock.ts'
import { CallLimiter, TURN_WAIT_MS } from './call-limiter.ts'
import type { Target } from './target.ts'

export interface CallTurnsParts {
  readonly settings: TurnSettings
  /** The number of targets that the configuration names. */
  readonly listedTargets: number
  readonly clock: Clock
  readonly alarms: AlarmClock
}

export interface TurnSettings {
  /** This is the limit for actions of accepted transactions. The two other limiters have half as many each. */
  readonly callsInFlightMax: number
  readonly targetShare: number
  /** It is null if calls have no pace. */
  readonly targetCallsPerSecond: number | null
}

/** A call that may not go now. It may be tried again after at least this many milliseconds. */
export interface NoTurn {
  readonly leastMs: number
}

const OTHER_LIMITERS_PART = 1 / 2

/**
 * Decides when a branch call may go. Actions of accepted transactions, calls that end a transaction, and actions of
 * claimed transactions have limiters of their own, so that neither new work nor work that hangs takes every slot.
 */
export class CallTurns {
  readonly fresh: CallLimiter
  readonly closing: CallLimiter
  readonly recovered: CallLimiter
  readonly #perSecond: number | null
  readonly #clock: Clock
  readonly #alarms: AlarmClock

  constructor({ settings, listedTargets, clock, alarms }: CallTurnsParts) {
    const { callsInFlightMax, targetShare, targetCallsPerSecond } = settings
    const bound = (placesMax: number) => shareBounds(placesMax, targetShare, listedTargets)
    const common = {
      now: () => clock.now(),
      ringAt: (at: number, callback: () => void) => alarms.ringAt(at, callback),
    }
    const others = Math.max(1, Math.floor(callsInFlightMax * OTHER_LIMITERS_PART))
    this.fresh = new CallLimiter({ ...common, name: 'freshCalls', bounds: bound(callsInFlightMax) })
    this.closing = new CallLimiter({ ...common, name: 'closingCalls', bounds: bound(others) })
    this.recovered = new CallLimiter({ ...common, name: 'recoveredCalls', bounds: bound(others) })
    this.#perSecond = targetCallsPerSecond
    this.#clock = clock
    this.#alarms = alarms
  }

  findLimiter(op: CalledOp, isRecovered: boolean): CallLimiter {
    if (op !== 'action') return this.closing
    return isRecovered ? this.recovered : this.fresh
  }

  /**
   * Asks for a turn. Returns undefined if the call may go. Otherwise the promise resolves to undefined when the call
   * may go, or to a `NoTurn`. A call that went must leave the limiter when it has ended.
   */
  enter(target: Target, limiter: CallLimiter): Promise<NoTurn | undefined> | undefined {
    if (this.#perSecond !== null) return this.#enterInPace(target, limiter, this.#perSecond)
    const waiting = limiter.enter(target)
    return waiting === undefined ? undefined : waiting.then(toNoTurn)
  }

  /** Ends all waits. */
  close(): void {
    for (const limiter of [this.fresh, this.closing, this.recovered]) limiter.close()
  }

  async #enterInPace(target: Target, limiter: CallLimiter, perSecond: number): Promise<NoTurn | undefined> {
    const now = this.#clock.now()
    const waitMs = paceWaitMs(target.turnAt, now)
    if (waitMs > TURN_WAIT_MS) return { leastMs: waitMs }
    target.turnAt = nextTurnAt(target.turnAt, now, perSecond)
    if (waitMs > 0) await this.#wait(target, waitMs)
    return toNoTurn((await limiter.enter(target)) ?? true)
  }

  async #wait(target: Target, waitMs: number): Promise<void> {
    target.waiting++
    await new Promise<void>((resolve) => this.#alarms.ringAt(this.#clock.now() + waitMs, resolve))
    target.waiting--
  }
}

function toNoTurn(hasTurn: boolean): NoTurn | undefined {
  return hasTurn ? undefined : { leastMs: 0 }
}
