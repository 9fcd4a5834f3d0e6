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
import { healthOf } from '../health.ts'
import { Requests } from '../requests.ts'
import { TakeOvers } from '../take-overs.ts'
import { within } from '../until-definite.ts'
import { BoundedCalls } from './bounded-calls.ts'
import type { InvocationTime } from './invocation-time.ts'
import { TimeLimit } from './time-limit.ts'

/**
 * What became of a transaction that was looked at.
 * `final`: it has ended. `given-back`: it goes on later. `not-ours`: another owner has it, or nobody should.
 * `left`: the store did not take it back in time, so its lease must run out.
 */
export type LookOutcome = 'final' | 'given-back' | 'not-ours' | 'left'

export interface DueLooks {
  readonly outcomes: readonly LookOutcome[]
  readonly mayBeMore: boolean
}

export interface PostponedLooks {
  readonly gids: readonly Gid[]
  readonly mayBeMore: boolean
}

/** For a request that the queue does not answer. */
const ASK_MS = 1_000
/** Looks that come up so soon after another are asked for together. */
const TOGETHER_MS = 100

/** One event of a function. When `end` has resolved, nothing of it runs any more. */
export class Invocation extends Requests {
  readonly #time: InvocationTime
  readonly #calls: BoundedCalls
  readonly #wakeUp: WakeUpQueue
  readonly #takeOvers: TakeOvers
  readonly #callsMayStart: TimeLimit
  readonly #looks = new Map<Gid, number>()
  readonly #endings = new Map<Gid, (outcome: LookOutcome) => void>()
  /** Claims that a command has brought about. */
  readonly #ownClaims = new Set<Promise<void>>()
  /** Of the next request for looks; undefined: none is planned. */
  #cancelAsk: (() => void) | undefined
  readonly #asking = new Set<Promise<void>>()
  #isEnding = false

  constructor(parts: AssemblyParts, wakeUp: WakeUpQueue, time: InvocationTime) {
    const { clock, branches, settings } = parts
    const calls = new BoundedCalls(branches, clock, time.callsUntil)
    const assembly = assemble(
      { ...parts, branches: calls, settings: { ...settings, leaseMs: time.leaseMs } },
      {
        onFinished: (gid) => this.#tell(gid, 'final'),
        onGivenBack: (gid, dueAt) => this.#givenBack(gid, dueAt),
        onWaiting: (gid, dueAt) => this.#lookAgain(gid, dueAt),
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

  /** Nothing runs once the answer is given, so a promise from memory could not be kept. */
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

  /** Claims the transaction and does what fits. Throws StoreUnavailableError when the claim is not answered. */
  async runClaimed(gid: Gid): Promise<LookOutcome> {
    const { store, clock, ids, run, formatMax, observer } = this.assembly
    const sentAt = clock.now()
    const claim = { gid, token: ids.token(), leaseMs: run.leaseMs, formatMax }
    const result = await store.claim(claim)
    if (result.type === 'refused') return result.reason === 'final' ? 'final' : 'not-ours'
    observer.claimed(1)
    return await this.#run(result.transaction, { sentAt, now: clock.now(), storeNow: result.now })
  }

  /** Claims at most `limit` of what is due and does what fits. Throws StoreUnavailableError when the claim is not answered. */
  async runDue(limit: number): Promise<DueLooks> {
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

  /** What is due is left to who is asked to look at it. Throws StoreUnavailableError. */
  async postponeDue(limit: number, byMs: number): Promise<PostponedLooks> {
    const { store, formatMax } = this.assembly
    const { gids, mayBeMore = false } = await store.postponeDue({ limit, byMs, formatMax })
    return { gids, mayBeMore: mayBeMore || gids.length === limit }
  }

  /** How many of at most `limit` finished transactions past their retention it has removed. Throws StoreUnavailableError. */
  async purge(limit: number): Promise<number> {
    return (await this.assembly.store.purgeFinished(limit)).purged
  }

  /** Throws StoreUnavailableError. */
  stats(): Promise<StoreStats> {
    return this.assembly.store.stats()
  }

  /** Until when it is worth to begin anything. */
  get isTimeUp(): boolean {
    return this.#callsMayStart.isOver
  }

  get isStopping(): boolean {
    return this.#isEnding
  }

  health(): EngineHealth {
    const { store, runner, acceptance, settings, bulkhead } = this.assembly
    return healthOf(store, settings, {
      isStopping: this.#isEnding,
      inFlight: runner.size + acceptance.size,
      targetsAtShare: bulkhead.targetsAtShare,
    })
  }

  close(): Promise<void> {
    return this.end(Promise.resolve())
  }

  /** Runs on while there is time, also beside `work`; then gives back what is not final and asks for later looks. */
  async end(work: Promise<unknown>): Promise<void> {
    const { clock, acceptance, runner, waiters, alarms } = this.assembly
    const leftUntil = (at: number) => Math.max(0, at - clock.now())
    await Promise.race([this.#callsMayStart.over, this.#done(work)])
    this.#callsMayStart.stop()
    this.#isEnding = true
    await acceptance.close(leftUntil(this.#time.callsUntil))
    runner.drain('when-calls-end')
    await within(clock, leftUntil(this.#time.callsUntil), runner.empty())
    runner.drain('now')
    await within(clock, leftUntil(this.#time.giveBackUntil), this.#idle())
    // What is still held is left to its lease.
    runner.close()
    waiters.stop()
    alarms.stop()
    await this.#calls.ended()
    this.#cancelAsk?.()
    this.#askNow()
    await Promise.all(this.#asking)
  }

  async #done(work: Promise<unknown>): Promise<void> {
    await Promise.allSettled([work])
    await this.#idle()
  }

  async #idle(): Promise<void> {
    const { runner } = this.assembly
    while (this.#ownClaims.size > 0 || runner.size > 0) {
      await Promise.all(this.#ownClaims)
      await runner.empty()
    }
  }

  async #run(row: StoredTransaction, grant: Grant): Promise<LookOutcome> {
    const { gid } = row
    // Before it starts: it may end at once.
    const ended = new Promise<LookOutcome>((resolve) => this.#endings.set(gid, resolve))
    const taken = this.#takeOvers.take(row, grant)
    if (taken.type === 'giving-back') {
      await taken.done
      return 'given-back'
    }
    // Of what a bug has stopped nobody is told.
    if (taken.type === 'ended') this.#tell(gid, 'left')
    return await ended
  }

  /** Who says how long he waits is answered then, or when the calls that are under way have ended. */
  #endAfter({ waitMs = 0 }: WaitOptions): void {
    if (waitMs > 0) this.#callsMayStart.atMost(waitMs)
  }

  #runNow(gid: Gid): void {
    // Told too late to be run here.
    if (this.#isEnding) {
      this.#lookAgain(gid, this.assembly.clock.now())
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
      this.#lookAgain(gid, clock.now())
    }
  }

  #givenBack(gid: Gid, dueAt: number | undefined): void {
    const { clock, run } = this.assembly
    this.#tell(gid, dueAt === undefined ? 'left' : 'given-back')
    if (dueAt === undefined) return
    // One that only came too early, by a doubled request, has a look to come: each would bring about one more.
    if (this.#calls.hasCalled(gid) || dueAt <= clock.now() + run.holdMs) this.#lookAgain(gid, dueAt)
  }

  #tell(gid: Gid, outcome: LookOutcome): void {
    this.#endings.get(gid)?.(outcome)
    this.#endings.delete(gid)
  }

  /** Not only at the end: until then others of the batch may run, or a caller wait. */
  #lookAgain(gid: Gid, dueAt: number): void {
    this.#looks.set(gid, dueAt)
    if (this.#isEnding) return
    this.#cancelAsk ??= this.assembly.clock.after(TOGETHER_MS, () => this.#askNow())
  }

  #askNow(): void {
    this.#cancelAsk = undefined
    const asked = this.#ask().finally(() => this.#asking.delete(asked))
    this.#asking.add(asked)
  }

  async #ask(): Promise<void> {
    const { clock, observer } = this.assembly
    if (this.#looks.size === 0) return
    const now = clock.now()
    const looks = [...this.#looks].map(
      ([gid, dueAt]): WakeUpRequest => ({ gid, dueInMs: Math.max(0, dueAt - now) }),
    )
    this.#looks.clear()
    try {
      const asked = this.#wakeUp.schedule(looks).then(() => true)
      if ((await within(clock, ASK_MS, asked)) !== true) throw new Error('not answered in time')
    } catch (error: unknown) {
      // The sweeper finds what is due.
      observer.event({ level: 'warn', name: 'wake-up-failed', detail: `${looks.length} looks`, error })
    }
  }
}
