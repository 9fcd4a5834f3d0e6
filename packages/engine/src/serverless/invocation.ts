import {
  type Grant,
  type StoredTransaction,
  type StoreStats,
  StoreUnavailableError,
  type Submission,
  type WakeUpQueue,
  type WakeUpRequest,
} from '@counterstep/core'
import { type Gid, InvalidRequestError, type SubmitView, type TransactionView } from '@counterstep/protocol'
import { type AssemblyParts, assemble } from '../assembly.ts'
import { countRowPlaces } from '../bulkhead/count-row-places.ts'
import type { AbortOptions, EngineHealth, SubmitOptions, WaitOptions } from '../engine-api.ts'
import { readHealth } from '../health.ts'
import { Requests } from '../requests.ts'
import type { GivenBack } from '../runner.ts'
import { TakeOvers } from '../take-overs.ts'
import { within } from '../until-definite.ts'
import { BoundedCalls } from './bounded-calls.ts'
import { ClaimRoom } from './claim-room.ts'
import type { InvocationTime } from './invocation-time.ts'
import type { SlowTargets } from './slow-targets.ts'
import { TimeLimit } from './time-limit.ts'

/**
 * The outcome of a transaction that an invocation was woken for.
 * `final`: it has ended. `given-back`: it goes on later. `not-ours`: another node owns it, or no node may claim it.
 * `no-room`: it was not claimed, since others take all places here. A wake-up for it was sent.
 * `left`: it could not be given back in time, so its lease must run out, or no wake-up could be sent where there was no room.
 */
export type RunOutcome = 'final' | 'given-back' | 'not-ours' | 'no-room' | 'left'

export interface ClaimedOutcomes {
  readonly outcomes: readonly RunOutcome[]
  readonly mayBeMore: boolean
}

export interface PostponedRows {
  readonly gids: readonly Gid[]
  readonly mayBeMore: boolean
}

/** Functions of this process whose calls were cut have this long to end before their transactions are given back. */
const END_FUNCTIONS_MS = 500
/** A request to the queue is given up after this time. */
const SCHEDULE_MS = 1_000
/** Wake-ups that are wanted within this time are requested together. */
const TOGETHER_MS = 100

export interface InvocationParts extends AssemblyParts {
  readonly wakeUp: WakeUpQueue
  readonly time: InvocationTime
  /** It is there if calls may hold this function only for a short time. Slow ones are then left to another function. */
  readonly quick?: { readonly time: InvocationTime; readonly slowTargets: SlowTargets } | undefined
}

/** There was no room for a transaction, so that a wake-up is sent for it. */
interface AskedAnew {
  readonly isSent: Promise<boolean>
}

interface WantedWakeUp {
  readonly dueAt: number
  readonly isSlow: boolean
  readonly group?: string | undefined
}

/**
 * This is the engine during one event of a function. Once `end` has resolved, nothing of the invocation runs any
 * more.
 */
export class Invocation extends Requests {
  /** The time of the whole invocation. */
  readonly #time: InvocationTime
  /** The time in which transactions run. It is shorter where calls may hold the function only for a short time. */
  readonly #runTime: InvocationTime
  readonly #calls: BoundedCalls
  readonly #wakeUp: WakeUpQueue
  readonly #takeOvers: TakeOvers
  readonly #room: ClaimRoom
  /** Transactions that it cannot run go on where calls may take long, too. */
  readonly #isSlow: boolean
  readonly #callsMayStart: TimeLimit
  readonly #requests = new Map<Gid, WantedWakeUp>()
  readonly #endings = new Map<Gid, (outcome: RunOutcome) => void>()
  /** The runs of `runClaimed` that have not ended. */
  readonly #claimedRuns = new Map<Gid, Promise<RunOutcome | AskedAnew>>()
  /** Claims that follow from commands of this invocation. */
  readonly #ownClaims = new Set<Promise<void>>()
  /** The transactions that are being claimed here, so that their ends come soon. */
  readonly #claiming: Set<Gid>
  /** Cancels the next sending of wake-up requests. It is undefined if none is planned. */
  #cancelSending: (() => void) | undefined
  readonly #sending = new Set<Promise<void>>()
  /** It tells whether the wake-ups that are wanted until then have been sent. */
  #nextSending = announceSending()
  /** No transaction runs here any more. */
  #hasRun = false
  #isEnding = false

  constructor(parts: InvocationParts) {
    const { clock, branches, settings, wakeUp, time, quick } = parts
    const runTime = quick?.time ?? time
    const calls = new BoundedCalls({
      branches,
      clock,
      until: runTime.callsUntil,
      withholdsCut: quick !== undefined,
    })
    const claiming = new Set<Gid>()
    const assembly = assemble(
      {
        ...parts,
        branches: calls,
        settings: { ...settings, leaseMs: time.leaseMs },
        // A caller that waits for a transaction which others run would hold the function for as long.
        ...(quick === undefined
          ? {}
          : { ownCalls: quick.slowTargets, mayWaitFor: (gid: Gid) => claiming.has(gid) }),
      },
      {
        onFinished: (gid) => this.#reportOutcome(gid, 'final'),
        onGivenBack: (gid, givenBack) => this.#handleGivenBack(gid, givenBack),
        onWaiting: (gid, dueAt, group) => this.#requestWakeUp(gid, { dueAt, isSlow: false, group }),
        onDue: (gid) => this.#runNow(gid),
      },
    )
    super(assembly)
    this.#time = time
    this.#runTime = runTime
    this.#calls = calls
    this.#wakeUp = wakeUp
    this.#claiming = claiming
    this.#takeOvers = new TakeOvers(assembly, () => clock.now() >= time.giveBackUntil)
    this.#room = new ClaimRoom(clock, settings.recoveryInFlightMax)
    this.#isSlow = quick === undefined
    this.#callsMayStart = new TimeLimit(clock, runTime.startCallsUntil)
  }

  /** Refuses `ack: 'memory'`: nothing runs after the answer, so a promise from memory could not be kept. */
  protected override take(submission: Submission, options: SubmitOptions): Promise<SubmitView> {
    if (submission.ack === 'memory') {
      const message = 'must be "durable": nothing runs here after the answer'
      return Promise.reject(new InvalidRequestError([{ code: 'SAGA_ACK_INVALID', path: '/ack', message }]))
    }
    this.#endAfter(options)
    return super.take(submission, options)
  }

  override abort(gid: Gid, options: AbortOptions = {}): Promise<TransactionView> {
    this.#endAfter(options)
    return super.abort(gid, options)
  }

  override submitPrepared(gid: Gid, options: WaitOptions = {}): Promise<TransactionView> {
    this.#endAfter(options)
    return super.submitPrepared(gid, options)
  }

  /**
   * Claims the transaction when there is a place, and runs it as long as time allows. It throws a
   * StoreUnavailableError when the claim is not answered.
   *
   * @param group is that of the wake-up.
   */
  async runClaimed(gid: Gid, group?: string): Promise<RunOutcome> {
    const outcome = await this.#runOnce(gid, group)
    if (typeof outcome === 'string') return outcome
    return (await outcome.isSent) ? 'no-room' : 'left'
  }

  /**
   * A wake-up that came twice joins the run that is under way: a claim between the give-back of that run and the
   * store's answer to it would end the run without an outcome.
   */
  #runOnce(gid: Gid, group?: string): Promise<RunOutcome | AskedAnew> {
    const underWay = this.#claimedRuns.get(gid)
    if (underWay !== undefined) return underWay
    const running = this.#claimAndRun(gid, group).finally(() => this.#claimedRuns.delete(gid))
    this.#claimedRuns.set(gid, running)
    return running
  }

  async #claimAndRun(gid: Gid, group: string | undefined): Promise<RunOutcome | AskedAnew> {
    const { store, clock, ids, run, formatMax, observer } = this.assembly
    if ((await this.#room.enter()) === 0) {
      this.#requestWakeUp(gid, { dueAt: clock.now(), isSlow: this.#isSlow, group })
      return this.#nextSending
    }
    let places = this.#room.unreadPlaces
    try {
      const sentAt = clock.now()
      const claim = { gid, token: ids.token(), leaseMs: run.leaseMs, formatMax }
      const result = await store.claim(claim)
      if (result.type === 'refused') return result.reason === 'final' ? 'final' : 'not-ours'
      observer.claimed(1)
      places = this.#room.resize(countRowPlaces(result.transaction))
      return await this.#run(result.transaction, { sentAt, now: clock.now(), storeNow: result.now })
    } finally {
      this.#room.leave(places)
    }
  }

  /**
   * Claims at most `limit` due rows, as many at a time as there are places, and runs them as long as time allows. It throws
   * a StoreUnavailableError when a claim is not answered.
   */
  async runDue(limit: number): Promise<ClaimedOutcomes> {
    const running: Promise<RunOutcome>[] = []
    let mayBeMore = true
    while (mayBeMore && running.length < limit) {
      const rows = await this.#room.enter(limit - running.length)
      if (rows === 0) break
      const claimed = await this.#claimDue(rows)
      running.push(...claimed.running)
      mayBeMore = claimed.mayBeMore
    }
    return { outcomes: await Promise.all(running), mayBeMore }
  }

  /** Claims due rows, for each of which there are places. */
  async #claimDue(limit: number): Promise<{ running: Promise<RunOutcome>[]; mayBeMore: boolean }> {
    const { store, clock, ids, run, formatMax, observer } = this.assembly
    let unread = limit
    try {
      const sentAt = clock.now()
      const tokens = Array.from({ length: limit }, () => ids.token())
      const result = await store.claimDue({ limit, leaseMs: run.leaseMs, tokens, formatMax })
      const { claimed, mayBeMore = false } = result
      if (claimed.length > 0) observer.claimed(claimed.length)
      const grant = { sentAt, now: clock.now(), storeNow: result.now }
      const running = claimed.map((row) => {
        unread--
        const places = this.#room.resize(countRowPlaces(row))
        return this.#run(row, grant).finally(() => this.#room.leave(places))
      })
      return { running, mayBeMore: mayBeMore || claimed.length === limit }
    } finally {
      this.#room.leave(unread * this.#room.unreadPlaces)
    }
  }

  /**
   * Postpones due rows and returns their gids, so that other invocations can be
   * woken for them. It throws a StoreUnavailableError.
   */
  async postponeDue(limit: number, byMs: number): Promise<PostponedRows> {
    const { store, formatMax } = this.assembly
    const { gids, mayBeMore = false } = await store.postponeDue({ limit, byMs, formatMax })
    return { gids, mayBeMore: mayBeMore || gids.length === limit }
  }

  /**
   * Removes at most `limit` finished transactions past their retention, and
   * returns how many. It throws a StoreUnavailableError.
   */
  async purge(limit: number): Promise<number> {
    return (await this.assembly.store.purgeFinished(limit)).purged
  }

  /** Reads the counts of the store. It throws a StoreUnavailableError. */
  stats(): Promise<StoreStats> {
    return this.assembly.store.stats()
  }

  /** Tells whether it is too late to start anything. */
  get isTimeUp(): boolean {
    return this.#callsMayStart.isOver
  }

  get isStopping(): boolean {
    return this.#isEnding
  }

  health(): EngineHealth {
    const { store, runner, acceptance, settings, bulkhead } = this.assembly
    return readHealth(store, settings, {
      isStopping: this.#isEnding,
      inFlight: runner.size + acceptance.size,
      targetsAtShare: bulkhead.targetsAtShare,
    })
  }

  close(): Promise<void> {
    return this.end(Promise.resolve())
  }

  /**
   * Runs on beside `work` while there is time. Then it gives back transactions
   * that are not final, and requests wake-ups for them.
   */
  async end(work: Promise<unknown>): Promise<void> {
    const { acceptance, runner, waiters, alarms, observer } = this.assembly
    const done = this.#waitUntilDone(work)
    await Promise.race([this.#callsMayStart.over, done])
    this.#callsMayStart.stop()
    this.#room.close()
    if (this.#runTime !== this.#time) await this.#endRuns(done)
    this.#isEnding = true
    this.#hasRun = true
    await acceptance.close(this.#leftUntil(this.#time.callsUntil))
    await this.#giveBackRuns(this.#time)
    // A transaction that still runs is left until its lease ends.
    runner.close()
    waiters.stop()
    alarms.stop()
    await this.#calls.waitUntilEnded()
    this.#cancelSending?.()
    this.#sendRequestsNow()
    // A wake-up that is wanted from now on is not sent.
    this.#nextSending.tell(false)
    // A function that is frozen in the middle of its work keeps what it holds, such as the locks of a database transaction.
    for (const gid of await this.#calls.waitForOverruns(this.#time.giveBackUntil))
      observer.event({ level: 'warn', name: 'branch-left-running', gid })
    // The time for which a call held this function counts to here.
    this.#calls.releaseCut()
    await Promise.all(this.#sending)
  }

  /**
   * Ends the time in which transactions run, which is shorter than the invocation. A request that only reads, or that
   * waits for a slow store, goes on. What it accepts or claims from now on is given back at once.
   */
  async #endRuns(done: Promise<void>): Promise<void> {
    this.#hasRun = true
    await this.#giveBackRuns(this.#runTime)
    this.#sendRequestsNow()
    await within(this.assembly.clock, this.#leftUntil(this.#time.startCallsUntil), done)
  }

  async #giveBackRuns({ callsUntil, giveBackUntil }: InvocationTime): Promise<void> {
    const { clock, runner } = this.assembly
    runner.drain('when-calls-end')
    await within(clock, this.#leftUntil(callsUntil), runner.empty())
    // The calls are cut first, so that the next owner makes none beside a call that is still under way here.
    await within(clock, this.#leftUntil(giveBackUntil), this.#calls.waitUntilEnded())
    await this.#calls.waitForOverruns(Math.min(giveBackUntil, callsUntil + END_FUNCTIONS_MS))
    runner.drain('now')
    await within(clock, this.#leftUntil(giveBackUntil), this.#waitUntilIdle())
  }

  #leftUntil(at: number): number {
    return Math.max(0, at - this.assembly.clock.now())
  }

  async #waitUntilDone(work: Promise<unknown>): Promise<void> {
    await Promise.allSettled([work])
    await this.#waitUntilIdle()
  }

  async #waitUntilIdle(): Promise<void> {
    const { runner } = this.assembly
    while (this.#ownClaims.size > 0 || runner.size > 0) {
      await Promise.all(this.#ownClaims)
      await runner.empty()
    }
  }

  async #run(row: StoredTransaction, grant: Grant): Promise<RunOutcome> {
    const { gid } = row
    // The ending is registered before the run starts, because the run may end at once.
    const ended = new Promise<RunOutcome>((resolve) => this.#endings.set(gid, resolve))
    const taken = this.#takeOvers.take(row, grant)
    if (taken.type === 'giving-back') {
      await taken.done
      return 'given-back'
    }
    // A transaction that a bug has stopped never reports its end.
    if (taken.type === 'ended') this.#reportOutcome(gid, 'left')
    return await ended
  }

  /**
   * Limits the invocation to the caller's own wait. After that the caller
   * is answered once the calls under way have ended.
   */
  #endAfter({ waitMs = 0 }: WaitOptions): void {
    if (waitMs > 0) this.#callsMayStart.atMost(waitMs)
  }

  #runNow(gid: Gid): void {
    // It is too late to run the transaction here.
    if (this.#hasRun) {
      this.#requestWakeUp(gid, { dueAt: this.assembly.clock.now(), isSlow: false })
      return
    }
    this.#claiming.add(gid)
    const claim = this.#claimAfterCommand(gid).finally(() => {
      this.#ownClaims.delete(claim)
      this.#endClaim(gid)
    })
    this.#ownClaims.add(claim)
  }

  async #claimAfterCommand(gid: Gid): Promise<void> {
    const { observer, clock } = this.assembly
    try {
      await this.#runOnce(gid)
    } catch (error: unknown) {
      const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
      observer.event({ level, name: 'claim-failed', gid, error })
      this.#requestWakeUp(gid, { dueAt: clock.now(), isSlow: false })
    }
  }

  /** A transaction that another owner runs is not waited for. */
  #endClaim(gid: Gid): void {
    if (!this.#claiming.delete(gid)) return
    if (!this.assembly.runner.isRunning(gid)) this.assembly.waiters.watch(gid)
  }

  #handleGivenBack(gid: Gid, { dueAt, isSlow, submitter: group }: GivenBack): void {
    const { clock, run } = this.assembly
    this.#claiming.delete(gid)
    this.#reportOutcome(gid, dueAt === undefined ? 'left' : 'given-back')
    if (dueAt === undefined) return
    // A transaction that was only woken too early, by a doubled request, still has
    // a wake-up to come. One more each time would add up.
    if (this.#calls.hasCalled(gid) || dueAt <= clock.now() + run.holdMs)
      this.#requestWakeUp(gid, { dueAt, isSlow: isSlow(), group })
  }

  #reportOutcome(gid: Gid, outcome: RunOutcome): void {
    this.#endings.get(gid)?.(outcome)
    this.#endings.delete(gid)
  }

  /**
   * Requests a wake-up soon, not only at the end, because other transactions
   * of the batch or a waiting caller may delay the end.
   */
  #requestWakeUp(gid: Gid, wanted: WantedWakeUp): void {
    this.#requests.set(gid, wanted)
    if (this.#isEnding) return
    this.#cancelSending ??= this.assembly.clock.after(TOGETHER_MS, () => this.#sendRequestsNow())
  }

  #sendRequestsNow(): void {
    this.#cancelSending = undefined
    const sending = this.#sendRequests().finally(() => this.#sending.delete(sending))
    this.#sending.add(sending)
  }

  async #sendRequests(): Promise<void> {
    const { clock, observer } = this.assembly
    if (this.#requests.size === 0) return
    const now = clock.now()
    const requests = [...this.#requests].map(
      ([gid, { dueAt, isSlow, group }]): WakeUpRequest => ({
        gid,
        dueInMs: Math.max(0, dueAt - now),
        ...(isSlow ? { isSlow } : {}),
        ...(group === undefined ? {} : { group }),
      }),
    )
    this.#requests.clear()
    const { tell } = this.#nextSending
    this.#nextSending = announceSending()
    try {
      const sending = this.#wakeUp.schedule(requests).then(() => true)
      if ((await within(clock, SCHEDULE_MS, sending)) !== true) throw new Error('not answered in time')
      tell(true)
    } catch (error: unknown) {
      // The sweeper finds the due rows later.
      observer.event({
        level: 'warn',
        name: 'wake-up-failed',
        detail: `${requests.length} wake-up requests`,
        error,
      })
      tell(false)
    }
  }
}

function announceSending(): AskedAnew & { readonly tell: (isSent: boolean) => void } {
  let tell: (isSent: boolean) => void = () => undefined
  const isSent = new Promise<boolean>((resolve) => {
    tell = resolve
  })
  return { isSent, tell }
}
