/**
 * Executes the effects that the core returns. It contains no business rules:
 * the core decides which call or save is made, and when.
 */
import {
  type BranchAnswer,
  type BranchCall,
  type BranchCaller,
  beginsToNeedAttention,
  type CallKey,
  type CheckUrl,
  type Clock,
  type Command,
  type CommandRefusal,
  computePlanRestMs,
  countPlanTurnPlaces,
  findRefusal,
  findUnplainIds,
  hasHungBefore,
  type Ids,
  isFinal,
  isGiven,
  isPlanChanged,
  isSent,
  judgeCommand,
  mayHangNext,
  mayShow,
  mayStart,
  NOT_SENT,
  parsePlan,
  type ReadPlan,
  type RefuseCall,
  type RetryBounds,
  RULES,
  type Run,
  type RunEffect,
  type RunEvent,
  type RunRoom,
  readJsonRpcAnswer,
  readStoreNow,
  type Store,
  stepRun,
  type TraceContext,
  type Transaction,
  viewTransaction,
  type WorkflowPlan,
} from '@counterstep/core'
import type { Gid, Status, TransactionView } from '@counterstep/protocol'
import { type ActiveRun, countPlaces, type NoRoom } from './active-run.ts'
import type { AlarmClock } from './alarm-clock.ts'
import { buildBranchCall, getCallUrl } from './branch-call.ts'
import type { Admission } from './bulkhead/admission.ts'
import type { Bulkhead } from './bulkhead/bulkhead.ts'
import type { CallLimiter } from './bulkhead/call-limiter.ts'
import type { NoTurn } from './bulkhead/call-turns.ts'
import { countCallBytes, countTextPlaces, countValuePlaces } from './bulkhead/count-row-places.ts'
import type { Target } from './bulkhead/target.ts'
import type { Destination } from './bulkhead/targets.ts'
import { inEmptyContext } from './empty-context.ts'
import { toJsonRpcCall } from './json-rpc-call.ts'
import { LoopTurns } from './loop-turns.ts'
import type { EngineEvent, EngineObserver } from './observer.ts'
import { readName } from './read-name.ts'
import type { EngineSettings } from './settings.ts'
import { ShortLivedMap } from './short-lived-map.ts'
import { traceCall, traceSave } from './traced.ts'
import type { EngineTracer, RunSpan } from './tracer.ts'
import { untilDefinite } from './until-definite.ts'
import type { Watch } from './watch/watch.ts'

export interface RunnerParts {
  readonly store: Store
  readonly branches: BranchCaller
  readonly clock: Clock
  readonly ids: Ids
  readonly observer: EngineObserver
  readonly alarms: AlarmClock
  readonly refuseCall?: RefuseCall
  readonly checkUrl: CheckUrl
  readonly plainIds?: boolean
  readonly bulkhead: Bulkhead
  readonly watch: Pick<Watch, 'isOpen' | 'reportChange' | 'reportFresh'>
  readonly settings: Pick<
    EngineSettings,
    'holdMs' | 'timeoutMsMax' | 'retryFloorMs' | 'parkAfterMs' | 'recoveryInFlightMax'
  >
  /** The transaction is final, and that is durable. */
  readonly onFinished: (gid: Gid, view: () => TransactionView) => void
  /** The transaction goes on, but this node does not run it any more. */
  readonly onGivenBack: (gid: Gid, givenBack: GivenBack) => void
  /** Says which calls are made here. By default all are. */
  readonly ownCalls?: OwnCalls
  readonly tracer?: EngineTracer
}

export interface GivenBack {
  /** When it is due again by this node's clock, if known. */
  readonly dueAt: number | undefined
  /** Whether it goes on with a call that has hung, or has taken long so far. */
  readonly isSlow: () => boolean
  /** The target at which a call is made again. */
  readonly retriesAt: Target | undefined
  /** Who submitted it, if known. */
  readonly submitter: string | undefined
}

/** The run was claimed from the store. */
export interface Claimed {
  /** How long the claim took. */
  readonly claimMs: number
  /**
   * It was claimed by its gid, before a backlog. It takes the places of accepted transactions, since those of claimed ones may
   * all be held by the backlog.
   */
  readonly isPrompt?: boolean
}

/** Chooses the calls that a function makes itself, since one that hangs would hold it for as long. */
export interface OwnCalls {
  /** `hasHung`: the attempt before this one has hung. */
  mayCall(target: Target, hasHung: boolean): boolean
  /** Hears of the end of each call that was made, by the node's clock. */
  countCall(target: Target, startedAt: number, endedAt: number): void
}

const WAKE_MS_MAX = 10_000
/** It takes up to 10 ms to find the values of a longer one, or to read it as a plan. */
const SHORT_BODY_LENGTH = 4 * 1_024
/** Where claimed transactions take more than this part of their places, one that only waits gives its places back at once. */
const AMPLE_PART = 1 / 2
/** A plan call whose last answer was dropped has waited for its turn. Its record says so to every node. */
const LARGE_PLAN = 'large-plan'
const UNREAD_PLAN_ANSWER = { result: 'ongoing', error: LARGE_PLAN } as const
/** The answer to a call with an empty URL, which is not sent. */
const EMPTY_URL_ANSWER = { result: 'success' } as const
/**
 * The answer where a message's query-back has no URL: it is not known whether the sender's transaction has committed.
 */
const NO_QUERY_BACK_ANSWER = { result: 'unknown', error: 'no-query-back' } as const

export type CommandOutcome =
  | {
      readonly type: 'durable'
      readonly view: TransactionView
      readonly trace: TraceContext | undefined
    }
  | { readonly type: 'refused'; readonly refusal: CommandRefusal; readonly status: Status }
  /** Another node's command has come between, so this one must be given again. */
  | { readonly type: 'again' }
  /** No save of a run here proves the outcome, so the store must be asked. */
  | { readonly type: 'ask-store' }

export class Runner {
  readonly #parts: RunnerParts
  readonly #active = new ShortLivedMap<Gid, ActiveRun>()
  readonly #retryBounds: RetryBounds
  readonly #emptied: (() => void)[] = []
  readonly #longBodies = new LoopTurns()
  #recovered = 0
  /** The places of these rows, as they were claimed. */
  #recoveredPlaces = 0
  #draining: 'no' | 'when-calls-end' | 'now' = 'no'
  #isClosed = false

  constructor(parts: RunnerParts) {
    this.#parts = parts
    const { retryFloorMs: floorMs, parkAfterMs } = parts.settings
    this.#retryBounds = { floorMs, parkAfterMs }
  }

  get size(): number {
    return this.#active.size
  }

  /** The number of runs here that were claimed, not accepted. */
  get recovered(): number {
    return this.#recovered
  }

  isRunning(gid: Gid): boolean {
    return this.#active.has(gid)
  }

  runs(): Run[] {
    return this.#active.values().map(({ run }) => run)
  }

  get(gid: Gid): Run | undefined {
    return this.#active.get(gid)?.run
  }

  /** Counts the places of a run here. It is 0 where the transaction does not run here. */
  countPlaces(gid: Gid): number {
    const active = this.#active.get(gid)
    return active === undefined ? 0 : countPlaces(active)
  }

  view(gid: Gid): TransactionView | undefined {
    const active = this.#active.get(gid)
    return active === undefined ? undefined : viewRun(active.run)
  }

  /**
   * Starts a run. An older run of the same gid has lost its token and ends. An accepted transaction brings the places
   * that its submit has taken, and keeps them until its first call.
   */
  start(run: Run, from: Admission | undefined | Claimed, placesOfRun: number): void {
    const claimed = from !== undefined && 'claimMs' in from ? from : undefined
    const admission = from !== undefined && 'claimMs' in from ? undefined : from
    // The create or the claim was answered after this runner closed, so the lease runs out.
    if (this.#isClosed) {
      admission?.end()
      return
    }
    const { gid } = run.transaction
    const older = this.#active.get(gid)
    if (older !== undefined) this.#end(older, gid, { type: 'ended', how: 'lost' })
    const isRecovered = claimed !== undefined && claimed.isPrompt !== true
    const places = this.#parts.bulkhead.places(isRecovered, placesOfRun)
    const valuePlaces = countValuePlaces(run.transaction)
    const active: ActiveRun = {
      run,
      tickAt: Number.POSITIVE_INFINITY,
      onDurable: [],
      isRecovered,
      claimedPlaces: placesOfRun,
      places,
      admission,
      // A row that was claimed has its values counted in its length.
      rowPlaces: placesOfRun - valuePlaces,
      valuePlaces,
      progressPlaces: 0,
      largeRowTurn: undefined,
      hasPlanTurn: claimed !== undefined,
      span: this.#parts.tracer?.startRun(run.transaction, claimed?.claimMs),
      noRoomFor: undefined,
      isHandedOver: false,
      hasLeft: false,
    }
    this.#active.set(gid, active)
    if (isRecovered) {
      this.#recovered++
      this.#recoveredPlaces += placesOfRun
    }
    this.#step(active, this.#draining === 'no' ? { type: 'tick' } : { type: 'drain', when: this.#draining })
  }

  /** Applies an event to the run that has this token, if it is still here. */
  applyEvent(gid: Gid, token: string, event: RunEvent): void {
    const active = this.#active.get(gid)
    if (active !== undefined && active.run.token === token) this.#step(active, event)
  }

  async command(gid: Gid, command: Command): Promise<CommandOutcome> {
    const active = this.#active.get(gid)
    if (active === undefined) return { type: 'ask-store' }
    const { lastStrongChange } = active.run
    const refusal = this.#findRefusal(active.run, command)
    if (refusal === undefined) this.#step(active, { type: 'command', command })
    else if (this.#isCertain(active.run, command, refusal))
      return { type: 'refused', refusal, status: active.run.durableTransaction.status }
    this.#growByValues(active)
    const isSaved = active.run.lastStrongChange > lastStrongChange
    if (!(await this.#waitUntilDurable(active))) return { type: 'ask-store' }
    const storeNow = readStoreNow(active.run, this.#parts.clock.now())
    const verdict = judgeCommand(active.run, command, isSaved, storeNow)
    if (verdict === 'done') return { type: 'durable', view: viewDurable(active.run), trace: getTrace(active) }
    if (verdict === 'again' || verdict === 'ask-store') return { type: verdict }
    return { type: 'refused', refusal: verdict, status: active.run.durableTransaction.status }
  }

  #findRefusal(run: Run, command: Command): CommandRefusal | undefined {
    const storeNow = readStoreNow(run, this.#parts.clock.now())
    const refusal = findRefusal(run.transaction, command, storeNow)
    if (refusal !== undefined || !isGiven(command)) return refusal
    return isPlanChanged(RULES, run.transaction, command, storeNow) ? 'plan-changed' : undefined
  }

  /**
   * Whether the state in memory alone may refuse the command. The row may lack what the owner of the op knows. A refusal
   * changes nothing, so the state need not be durable.
   */
  #isCertain(run: Run, command: Command, refusal: CommandRefusal): boolean {
    return ('branchId' in command || refusal === 'plan-changed') && mayShow(run, this.#parts.clock.now())
  }

  /** Gives all transactions back, when their calls have ended or at once. */
  drain(when: 'when-calls-end' | 'now'): void {
    this.#draining = when
    this.#parts.bulkhead.turns.close()
    for (const active of this.#active.values()) this.#step(active, { type: 'drain', when })
  }

  /** Ends all runs. A transaction that could not be given back is left until its lease ends. */
  close(): void {
    this.#isClosed = true
    for (const active of this.#active.values()) this.#giveUp(active)
  }

  empty(): Promise<void> {
    if (this.#active.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#emptied.push(resolve))
  }

  /** Waits until the strong changes in memory are durable. The result is false when the run ends before that. */
  async #waitUntilDurable({ run, onDurable }: ActiveRun): Promise<boolean> {
    const { ended, lastSavedChange, lastStrongChange } = run
    if (ended || lastSavedChange >= lastStrongChange) return !ended
    return new Promise((tell) => onDurable.push({ change: lastStrongChange, tell }))
  }

  #step(active: ActiveRun, event: RunEvent): void {
    try {
      const before = active.run.transaction
      const { run, effects } = stepRun(
        RULES,
        active.run,
        event,
        this.#parts.clock.now(),
        this.#findRoom(active),
      )
      active.run = run
      const needsAttention = beginsToNeedAttention(before, run.transaction)
      if (needsAttention) this.#reportAttention(active)
      if (this.#parts.watch.isOpen) this.#reportChange(run.transaction.gid, needsAttention)
      if (effects.length > 0)
        inEmptyContext(() => {
          for (const effect of effects) this.#execute(active, effect)
        })
    } catch (error: unknown) {
      // This is a bug. The attempt stops here, the lease runs out, and the row is claimed again.
      this.#tell(active, { level: 'error', name: 'transaction-step-failed', error })
      this.#giveUp(active)
    }
  }

  /** Undefined: there is ample room, and the row is small. */
  #findRoom(active: ActiveRun): RunRoom | undefined {
    const { settings, bulkhead } = this.#parts
    const isShort = active.isRecovered && this.#recoveredPlaces > settings.recoveryInFlightMax * AMPLE_PART
    const places = countPlaces(active)
    if (places > 1) return { isShort, largeRow: { places, nextAt: bulkhead.nextLargeRowAt } }
    return isShort ? { isShort } : undefined
  }

  /** Tells those who watch. Whether the change may be shown yet is decided when it is. */
  #reportChange(gid: Gid, needsAttention: boolean): void {
    const { watch } = this.#parts
    if (needsAttention) watch.reportFresh(gid)
    else watch.reportChange(gid)
  }

  /** Reports before the change is durable, so after a crash the next owner may report it again. */
  #reportAttention(active: ActiveRun): void {
    const { attention: detail = '' } = active.run.transaction
    this.#tell(active, { level: 'warn', name: 'transaction-needs-attention', detail })
  }

  #tell(active: ActiveRun, event: Omit<EngineEvent, 'gid' | 'trace'>): void {
    const { gid } = active.run.transaction
    this.#parts.observer.event({ ...event, gid, trace: getTrace(active) })
  }

  #giveUp(active: ActiveRun): void {
    if (active.run.ended) return
    active.run = { ...active.run, ended: true }
    this.#end(active, active.run.transaction.gid, { type: 'ended', how: 'lost' })
  }

  #execute(active: ActiveRun, effect: RunEffect): void {
    switch (effect.type) {
      case 'call':
        this.#call(active, effect.call, effect.attempt)
        break
      case 'save':
        if (effect.nextLargeRowAt !== undefined) this.#parts.bulkhead.nextLargeRowAt = effect.nextLargeRowAt
        void this.#save(active, effect.update)
        break
      case 'reread':
        void this.#reread(active)
        break
      case 'wake-at':
        this.#wakeAt(active, effect.at)
        break
      case 'durable':
        notifyDurable(active, effect.lastSavedChange)
        break
      case 'ended':
        this.#end(active, active.run.transaction.gid, effect)
        break
    }
  }

  #call(active: ActiveRun, call: CallKey, attempt: number): void {
    const { bulkhead } = this.#parts
    const url = getCallUrl(active.run.transaction, call)
    // A call without a URL is not sent.
    if (url === '') {
      void this.#send(active, this.#buildCall(active, call, attempt), call)
      return
    }
    const destination = bulkhead.findDestination(url)
    const { target } = destination
    active.admission?.end()
    const { ownCalls } = this.#parts
    if (ownCalls?.mayCall(target, hasHungBefore(active.run.transaction, call)) === false) {
      this.#handOver(active, call, attempt, target)
      return
    }
    const turnMs = call.op === 'plan' ? this.#planTurnMs(active, target) : 0
    if (turnMs > 0) {
      this.#noteNoRoom(active, { target, call, attempt, waitMs: turnMs })
      return
    }
    const builtBytes = countCallBytes(active.run.transaction, call)
    if (!active.places.enter(target, builtBytes)) {
      this.#holdBack(active, call, attempt, target)
      return
    }
    const request = this.#buildCall(active, call, attempt)
    const limiter = bulkhead.turns.findLimiter(call.op, active.isRecovered)
    const turn = { destination, limiter, builtBytes }
    const waiting = bulkhead.turns.enter(target, limiter)
    if (waiting === undefined) void this.#send(active, request, call, turn)
    else void this.#sendInTurn(active, request, call, turn, waiting)
  }

  /** Builds a call that may wait for its turn and for a connection. */
  #buildCall(active: ActiveRun, call: CallKey, attempt: number): BranchCall {
    const { clock, settings } = this.#parts
    const built = buildBranchCall(active.run, call, attempt, settings.timeoutMsMax)
    return { ...built, mayBegin: () => mayStart(active.run, call, clock.now()) }
  }

  /**
   * Collects the calls of one step that find no place, so that they are held back by one event. A saga of a hundred
   * branches then makes one step instead of a hundred.
   */
  #holdBack(active: ActiveRun, call: CallKey, attempt: number, target: Target): void {
    const { bulkhead, ids } = this.#parts
    const waitMs =
      active.noRoomFor?.find((other) => other.target === target)?.waitMs ??
      bulkhead.waitForRoom(target, active.places, ids.jitter(), () => this.#waitMsOfRow(active, target))
    this.#noteNoRoom(active, { target, call, attempt, waitMs })
  }

  #noteNoRoom(active: ActiveRun, held: NoRoom): void {
    // The event comes later in this turn of the event loop, because the step that wants this call is not over.
    if (active.noRoomFor === undefined) queueMicrotask(() => this.#stepHeldBack(active))
    active.noRoomFor ??= []
    active.noRoomFor.push(held)
  }

  /**
   * Returns how long a plan call waits before it is sent. Each plan of a workflow reads, sends and saves its whole journal, and
   * may ask for the next one at once: forty small submits, each with a thousand plans, made the submits of others take a
   * second. So the plan calls of large workflows of one target are made one after the other.
   */
  #planTurnMs(active: ActiveRun, target: Target): number {
    const waitMs = active.hasPlanTurn ? 0 : this.#takeTurnMs(target, countPlaces(active))
    active.hasPlanTurn = waitMs > 0
    return waitMs
  }

  #takeTurnMs(target: Target, places: number): number {
    const { bulkhead, clock } = this.#parts
    return Math.max(0, (bulkhead.takeLargeRowTurn(target, places)?.at ?? 0) - clock.now())
  }

  /**
   * Leaves a call to another function. The call was not sent, so its attempt is taken back. The transaction starts no more
   * calls here and is given back as due now, when those that are under way have ended.
   */
  #handOver(active: ActiveRun, call: CallKey, attempt: number, target: Target): void {
    active.isHandedOver = true
    this.#noteNoRoom(active, { target, call, attempt, waitMs: 0 })
  }

  #stepHeldBack(active: ActiveRun): void {
    const { noRoomFor: calls = [] } = active
    active.noRoomFor = undefined
    // The drain comes first, because a call that waits for no time would otherwise be made again at once.
    if (active.isHandedOver) this.#step(active, { type: 'drain', when: 'when-calls-end' })
    this.#step(active, { type: 'held-back', calls })
  }

  async #sendInTurn(
    active: ActiveRun,
    request: BranchCall,
    call: CallKey,
    turn: Turn,
    waiting: Promise<NoTurn | undefined>,
  ): Promise<void> {
    const { bulkhead, ids } = this.#parts
    const { builtBytes } = turn
    const { target } = turn.destination
    const noTurn = await waiting
    if (noTurn === undefined) {
      await this.#send(active, request, call, turn)
      return
    }
    active.places.withdraw(target, builtBytes)
    const waitMs = bulkhead.holdBack(
      target,
      ids.jitter(),
      Math.max(noTurn.leastMs, this.#waitMsOfRow(active, target)),
    )
    this.#step(active, { type: 'held-back', calls: [{ call, attempt: request.attempt, waitMs }] })
  }

  /** Sends a call and applies its answer. A call with a destination has a turn in the limiter, which ends here. */
  async #send(active: ActiveRun, request: BranchCall, call: CallKey, turn?: Turn): Promise<void> {
    const { clock, branches, observer, ids, ownCalls } = this.#parts
    const destination = turn?.destination
    const target = destination?.target
    try {
      if (isLongText(request)) await this.#longBodies.wait(target, request.body.length)
      const startedAt = clock.now()
      // A target that had no call in flight had nothing to answer until now.
      if (target?.callsInFlight === 1) target.answeredAt = startedAt
      // The call may have waited for its turn.
      const answer: BranchAnswer =
        request.mayBegin?.() === false
          ? NOT_SENT
          : (this.#refuse(active, request) ?? (await requestAnswer(branches, request, active.span)))
      const durationMs = Math.round(clock.now() - startedAt)
      const { length = 0 } = answer.body ?? {}
      if (length > SHORT_BODY_LENGTH) await this.#longBodies.wait(target, length)
      const wasSent = isSent(answer)
      const service = wasSent ? destination?.service : undefined
      observer.branchCalled(call.op, answer.result, durationMs, service, answer.statusCode ?? answer.error)
      if (target !== undefined) {
        const isOver = isDefinite(answer)
        if (isOver) target.answeredAt = startedAt + durationMs
        if (isOver && active.isRecovered) target.recoveredAnswers++
        active.places.leave(target, isOver, turn?.builtBytes)
        if (wasSent) ownCalls?.countCall(target, startedAt, startedAt + durationMs)
      }
      const { attempt } = request
      const isAsked = target !== undefined && wasSent && !isDefinite(answer)
      const readMs = call.op === 'plan' ? this.#planWaitMs(active, target, answer) : 0
      const turnMs = isAsked ? this.#waitMsOfRow(active, target) : readMs
      const bounds = turnMs > 0 ? { ...this.#retryBounds, turnMs } : this.#retryBounds
      this.#step(active, {
        type: 'answered',
        call,
        attempt,
        answer: readMs > 0 ? UNREAD_PLAN_ANSWER : answer,
        durationMs,
        jitter01: ids.jitter(),
        bounds,
        ...(readMs > 0 ? {} : this.#readPlan(active.run.transaction, call, answer, target)),
      })
      this.#growByValues(active)
    } catch (error: unknown) {
      this.#failAttempt(active, error)
    } finally {
      turn?.limiter.leave(turn.destination.target)
    }
  }

  /**
   * Returns how long an answer of a plan call waits for its turn. One that comes before its turn is dropped, and the plan is asked
   * again then.
   */
  #planWaitMs(active: ActiveRun, target: Target | undefined, { body = '' }: BranchAnswer): number {
    const { transaction } = active.run
    if (target === undefined) return 0
    const places = countPlanTurnPlaces({
      characters: body.length,
      places: countTextPlaces(body),
      isResting: this.#parts.bulkhead.isRestingFromPlan(target),
      hasWaited: transaction.kind === 'workflow' && transaction.plan.call.error === LARGE_PLAN,
    })
    return this.#takeTurnMs(target, places)
  }

  /** Reads the answer of a plan call. Any status but 200 is no plan, also where it would be the success of a branch. */
  #readPlan(
    transaction: Transaction,
    call: CallKey,
    answer: BranchAnswer,
    target: Target | undefined,
  ): { readonly plan?: ReadPlan } {
    const isPlan = call.op === 'plan' && transaction.kind === 'workflow'
    if (!isPlan || answer.result !== 'success' || answer.statusCode !== 200) return {}
    const { bulkhead, clock, checkUrl } = this.#parts
    const startedAt = clock.now()
    const read = parsePlan(transaction, answer.body, checkUrl)
    const restMs = computePlanRestMs(answer.body?.length ?? 0, clock.now() - startedAt)
    if (target !== undefined && restMs > 0) bulkhead.restFromPlan(target, restMs)
    const fault = read.type === 'read' ? this.#findUnplainStep(read.plan) : undefined
    return { plan: fault === undefined ? read : { type: 'bad', reason: fault } }
  }

  /** Services with DTM's own barriers are called for planned steps, too. */
  #findUnplainStep({ next }: WorkflowPlan): string | undefined {
    if (this.#parts.plainIds !== true) return undefined
    const branches = next.map(({ branch }) => branch)
    const [fault] = findUnplainIds(undefined, branches)
    return fault === undefined ? undefined : `an id of a step ${fault.message}`
  }

  /** Counts the values and signals that a saga keeps like the rest of its row, which they may make a hundred times as long. */
  #growByValues(active: ActiveRun): void {
    active.valuePlaces = countValuePlaces(active.run.transaction)
    active.places.grow(countPlaces(active))
  }

  /** Returns how long a large transaction waits for its turn. All its calls that fail within one turn share that turn. */
  #waitMsOfRow(active: ActiveRun, target: Target): number {
    const now = this.#parts.clock.now()
    if ((active.largeRowTurn?.nextAt ?? 0) <= now)
      active.largeRowTurn = this.#parts.bulkhead.takeLargeRowTurn(target, countPlaces(active))
    return Math.max(0, (active.largeRowTurn?.at ?? now) - now)
  }

  #refuse({ run }: ActiveRun, { url }: BranchCall): BranchAnswer | undefined {
    const error = this.#parts.refuseCall?.(run.transaction.definition, url)
    return error === undefined ? undefined : { result: 'unknown', error }
  }

  async #save(active: ActiveRun, update: Extract<RunEffect, { type: 'save' }>['update']): Promise<void> {
    const { store, clock, ids } = this.#parts
    active.progressPlaces = countTextPlaces(update.progress)
    active.places.grow(countPlaces(active))
    try {
      const write = { ...update, writeId: ids.writeId() }
      const result = await traceSave(active.span, () =>
        untilDefinite(
          clock,
          () => store.update(write),
          () => active.run.ended,
        ),
      )
      if (result === undefined) return
      if (result.type !== 'saved') {
        this.#tell(active, { level: 'info', name: `save-${result.type}` })
      }
      this.#step(active, { type: 'saved', result })
    } catch (error: unknown) {
      this.#failAttempt(active, error)
    }
  }

  async #reread(active: ActiveRun): Promise<void> {
    const { store, clock } = this.#parts
    const { gid } = active.run.transaction
    try {
      const rows = await untilDefinite(
        clock,
        async () => {
          const read = await store.readMany([gid])
          // The calls that follow rest on this row. A command that is lost must not have been obeyed.
          await store.settle?.()
          return read
        },
        () => active.run.ended,
      )
      if (rows !== undefined) this.#step(active, { type: 'reread', row: rows[0] })
    } catch (error: unknown) {
      this.#failAttempt(active, error)
    }
  }

  /** Ends a run after a bug. Answers of a branch or the store never lead here. */
  #failAttempt(active: ActiveRun, error: unknown): void {
    this.#tell(active, { level: 'error', name: 'transaction-attempt-failed', error })
    // The run is given up also when its save failed, because it would wait for the answer for ever.
    this.#giveUp(active)
  }

  /**
   * Sets an alarm. Alarms are never cancelled, so none is set far ahead and none
   * keeps an ended run in memory. A tick may come early.
   */
  #wakeAt(active: ActiveRun, wantedAt: number): void {
    const { alarms, clock } = this.#parts
    const at = Math.min(wantedAt, clock.now() + WAKE_MS_MAX)
    if (at >= active.tickAt) return
    active.tickAt = at
    const { gid } = active.run.transaction
    alarms.ringAt(at, () => this.#ring(gid, at))
  }

  #ring(gid: Gid, at: number): void {
    const active = this.#active.get(gid)
    if (active === undefined || active.tickAt !== at) return
    active.tickAt = Number.POSITIVE_INFINITY
    this.#step(active, { type: 'tick' })
  }

  #end(active: ActiveRun, gid: Gid, effect: Extract<RunEffect, { type: 'ended' }>): void {
    if (this.#active.get(gid) === active) this.#active.delete(gid)
    const retriesAt = active.places.waitsFor
    this.#giveUpPlaces(active)
    active.span?.end(active.run.transaction, effect.how)
    active.run = active.run.ended ? active.run : { ...active.run, ended: true }
    for (const { tell } of active.onDurable.splice(0)) tell(false)
    const { transaction, storeOffsetMs } = active.run
    if (effect.how === 'finished' && isFinal(transaction)) {
      const { kind, status, finishedAt, createdAt, definition } = transaction
      this.#parts.observer.finished(kind, status, finishedAt - createdAt, readName(definition))
      this.#parts.onFinished(gid, () => viewRun(active.run))
    } else {
      if (effect.how === 'lost') this.#tell(active, { level: 'warn', name: 'transaction-lost' })
      const dueAt = effect.dueAt === undefined ? undefined : effect.dueAt - storeOffsetMs
      const { submitter } = transaction.definition
      this.#parts.onGivenBack(gid, { dueAt, isSlow: () => this.#isSlow(active), retriesAt, submitter })
    }
    if (this.#active.size === 0) for (const tell of this.#emptied.splice(0)) tell()
  }

  /** A transaction that was claimed and is given back at the end of its time has had a whole turn already. */
  #isSlow({ isHandedOver, isRecovered, run }: ActiveRun): boolean {
    const hasHadItsTurn = isRecovered && this.#draining !== 'no'
    return isHandedOver || hasHadItsTurn || mayHangNext(run.transaction)
  }

  /** Gives the places back once, however often the end is reported. */
  #giveUpPlaces(active: ActiveRun): void {
    if (active.hasLeft) return
    active.hasLeft = true
    if (active.isRecovered) {
      this.#recovered--
      this.#recoveredPlaces -= active.claimedPlaces
    }
    active.places.clear()
    active.admission?.end()
  }
}

/** A call with a destination takes these, from when it has its place until it has ended. */
interface Turn {
  readonly destination: Destination
  readonly limiter: CallLimiter
  /** The bytes of its request that are built from values. */
  readonly builtBytes: number
}

/** A text that is no JSON may be a form, which is read before it is sent: a service may take its fields for the identity of the call. */
function isLongText({ contentType, body }: BranchCall): boolean {
  return body.length > SHORT_BODY_LENGTH && contentType !== 'application/json'
}

function isDefinite({ result }: BranchAnswer): boolean {
  return result === 'success' || result === 'failure'
}

function requestAnswer(
  branches: BranchCaller,
  request: BranchCall,
  span: RunSpan | undefined,
): Promise<BranchAnswer> {
  if (request.isJsonRpc === true) return requestByJsonRpc(branches, request, span)
  if (request.url !== '') return traceCall(span, branches, request)
  return Promise.resolve(request.op === 'msg' ? NO_QUERY_BACK_ANSWER : EMPTY_URL_ANSWER)
}

async function requestByJsonRpc(
  branches: BranchCaller,
  request: BranchCall,
  span: RunSpan | undefined,
): Promise<BranchAnswer> {
  const call = toJsonRpcCall(request)
  // An operator has edited the payload, or an older version has stored it.
  if (call === undefined) return { result: 'unknown', error: 'json-rpc' }
  return readJsonRpcAnswer(await traceCall(span, branches, call))
}

function getTrace({ span, run }: ActiveRun): TraceContext | undefined {
  return span?.trace ?? run.transaction.definition.trace
}

function viewRun(run: Run): TransactionView {
  return viewTransaction(run.transaction, run.durableTransaction.status, run.durableTransaction)
}

/** Shows the run. While a strong change waits for its save, the last durable state is shown instead. */
function viewDurable(run: Run): TransactionView {
  const { durableTransaction, lastSavedChange, lastStrongChange } = run
  return lastSavedChange >= lastStrongChange
    ? viewRun(run)
    : viewTransaction(durableTransaction, durableTransaction.status)
}

function notifyDurable(active: ActiveRun, lastSavedChange: number): void {
  if (active.onDurable.length === 0) return
  for (const waiting of active.onDurable.splice(0)) {
    if (waiting.change <= lastSavedChange) waiting.tell(true)
    else active.onDurable.push(waiting)
  }
}
