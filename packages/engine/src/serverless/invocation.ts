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
import type { AbortOptions, EngineHealth, SubmitOptions, WaitOptions } from '../engine-api.ts'
import { readHealth } from '../health.ts'
import { Requests } from '../requests.ts'
import { TakeOvers } from '../take-overs.ts'
import { within } from '../until-definite.ts'
import { BoundedCalls } from './bounded-calls.ts'
import type { InvocationTime } from './invocation-time.ts'
import { TimeLimit } from './time-limit.ts'

/**
 * The outcome of a transaction that an invocation was woken for.
 * `final`: it has ended. `given-back`: it goes on later. `not-ours`: another node owns it, or no node may claim it.
 * `left`: it could not be given back in time, so its lease must run out.
 */
export type RunOutcome = 'final' | 'given-back' | 'not-ours' | 'left'

export interface ClaimedOutcomes {
  readonly outcomes: readonly RunOutcome[]
  readonly mayBeMore: boolean
}

export interface PostponedRows {
  readonly gids: readonly Gid[]
  readonly mayBeMore: boolean
}

/** A request to the queue is given up after this time. */
const SCHEDULE_MS = 1_000
/** Wake-ups that are wanted within this time are requested together. */
const TOGETHER_MS = 100

/**
 * This is the engine during one event of a function. Once `end` has resolved, nothing of the invocation runs any
 * more.
 */
export class Invocation extends Requests {
  readonly #time: InvocationTime
  readonly #calls: BoundedCalls
  readonly #wakeUp: WakeUpQueue
  readonly #takeOvers: TakeOvers
  readonly #callsMayStart: TimeLimit
  readonly #requests = new Map<Gid, number>()
  readonly #endings = new Map<Gid, (outcome: RunOutcome) => void>()
  /** Claims that follow from commands of this invocation. */
  readonly #ownClaims = new Set<Promise<void>>()
  /** Cancels the next sending of wake-up requests. It is undefined if none is planned. */
  #cancelSending: (() => void) | undefined
  readonly #sending = new Set<Promise<void>>()
  #isEnding = false

  constructor(parts: AssemblyParts, wakeUp: WakeUpQueue, time: InvocationTime) {
    const { clock, branches, settings } = parts
    const calls = new BoundedCalls(branches, clock, time.callsUntil)
    const assembly = assemble(
      { ...parts, branches: calls, settings: { ...settings, leaseMs: time.leaseMs } },
      {
        onFinished: (gid) => this.#reportOutcome(gid, 'final'),
        onGivenBack: (gid, dueAt) => this.#handleGivenBack(gid, dueAt),
        onWaiting: (gid, dueAt) => this.#requestWakeUp(gid, dueAt),
        onDue: (gid) => this.#runNow(gid),
      },
    )
    super(assembly)
    this.#time = time
    this.#calls = calls
    this.#wakeUp = wakeUp
    this.#takeOvers = new TakeOvers(assembly, () => clock.now() >= time.giveBackUntil)
    this.#callsMayStart = new TimeLimit(clock, time.startCallsUntil)
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
   * Claims the transaction and runs it as long as time allows. It throws a
   * StoreUnavailableError when the claim is not answered.
   */
  async runClaimed(gid: Gid): Promise<RunOutcome> {
    const { store, clock, ids, run, formatMax, observer } = this.assembly
    const sentAt = clock.now()
    const claim = { gid, token: ids.token(), leaseMs: run.leaseMs, formatMax }
    const result = await store.claim(claim)
    if (result.type === 'refused') return result.reason === 'final' ? 'final' : 'not-ours'
    observer.claimed(1)
    return await this.#run(result.transaction, { sentAt, now: clock.now(), storeNow: result.now })
  }

  /**
   * Claims at most `limit` due rows and runs them as long as time allows. It throws
   * a StoreUnavailableError when the claim is not answered.
   */
  async runDue(limit: number): Promise<ClaimedOutcomes> {
    const { store, clock, ids, run, formatMax, observer } = this.assembly
    const sentAt = clock.now()
    const tokens = Array.from({ length: limit }, () => ids.token())
    const result = await store.claimDue({ limit, leaseMs: run.leaseMs, tokens, formatMax })
    const { claimed, mayBeMore = false } = result
    if (claimed.length > 0) observer.claimed(claimed.length)
    const grant = { sentAt, now: clock.now(), storeNow: result.now }
    const outcomes = await Promise.all(claimed.map((row) => this.#run(row, grant)))
    return { outcomes, mayBeMore: mayBeMore || claimed.length === limit }
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
    const { clock, acceptance, runner, waiters, alarms } = this.assembly
    const leftUntil = (at: number) => Math.max(0, at - clock.now())
    await Promise.race([this.#callsMayStart.over, this.#waitUntilDone(work)])
    this.#callsMayStart.stop()
    this.#isEnding = true
    await acceptance.close(leftUntil(this.#time.callsUntil))
    runner.drain('when-calls-end')
    await within(clock, leftUntil(this.#time.callsUntil), runner.empty())
    runner.drain('now')
    await within(clock, leftUntil(this.#time.giveBackUntil), this.#waitUntilIdle())
    // A transaction that still runs is left until its lease ends.
    runner.close()
    waiters.stop()
    alarms.stop()
    await this.#calls.waitUntilEnded()
    this.#cancelSending?.()
    this.#sendRequestsNow()
    await Promise.all(this.#sending)
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
    if (this.#isEnding) {
      this.#requestWakeUp(gid, this.assembly.clock.now())
      return
    }
    const claim = this.#claimAfterCommand(gid).finally(() => this.#ownClaims.delete(claim))
    this.#ownClaims.add(claim)
  }

  async #claimAfterCommand(gid: Gid): Promise<void> {
    const { observer, clock } = this.assembly
    try {
      await this.runClaimed(gid)
    } catch (error: unknown) {
      const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
      observer.event({ level, name: 'claim-failed', gid, error })
      this.#requestWakeUp(gid, clock.now())
    }
  }

  #handleGivenBack(gid: Gid, dueAt: number | undefined): void {
    const { clock, run } = this.assembly
    this.#reportOutcome(gid, dueAt === undefined ? 'left' : 'given-back')
    if (dueAt === undefined) return
    // A transaction that was only woken too early, by a doubled request, still has
    // a wake-up to come. One more each time would add up.
    if (this.#calls.hasCalled(gid) || dueAt <= clock.now() + run.holdMs) this.#requestWakeUp(gid, dueAt)
  }

  #reportOutcome(gid: Gid, outcome: RunOutcome): void {
    this.#endings.get(gid)?.(outcome)
    this.#endings.delete(gid)
  }

  /**
   * Requests a wake-up soon, not only at the end, because other transactions
   * of the batch or a waiting caller may delay the end.
   */
  #requestWakeUp(gid: Gid, dueAt: number): void {
    this.#requests.set(gid, dueAt)
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
      ([gid, dueAt]): WakeUpRequest => ({ gid, dueInMs: Math.max(0, dueAt - now) }),
    )
    this.#requests.clear()
    try {
      const sending = this.#wakeUp.schedule(requests).then(() => true)
      if ((await within(clock, SCHEDULE_MS, sending)) !== true) throw new Error('not answered in time')
    } catch (error: unknown) {
      // The sweeper finds the due rows later.
      observer.event({
        level: 'warn',
        name: 'wake-up-failed',
        detail: `${requests.length} wake-up requests`,
        error,
      })
    }
  }
}
