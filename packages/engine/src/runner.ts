/** Interprets the core's effects. It holds no rule: which call, which save and when is the core's to say. */
import {
  type BranchAnswer,
  type BranchCall,
  type BranchCaller,
  beginsToNeedAttention,
  type CallKey,
  type Clock,
  type Command,
  findRefusal,
  type Ids,
  isFinal,
  isOverdue,
  judgeCommand,
  type Refusal,
  type RefuseCall,
  type RetryBounds,
  RULES,
  type Run,
  type RunEffect,
  type RunEvent,
  type Store,
  stepRun,
  storeNow,
  type Transaction,
  viewTransaction,
} from '@counterstep/core'
import type { Gid, Status, TransactionView } from '@counterstep/protocol'
import type { AlarmClock } from './alarm-clock.ts'
import { branchCall, urlOfCall } from './branch-call.ts'
import type { Admission } from './bulkhead/admission.ts'
import type { Bulkhead } from './bulkhead/bulkhead.ts'
import type { CallLane } from './bulkhead/call-lane.ts'
import type { NoTurn } from './bulkhead/call-turns.ts'
import type { Target } from './bulkhead/target.ts'
import type { Held } from './active-run.ts'
import type { EngineObserver } from './observer.ts'
import type { EngineSettings } from './settings.ts'
import { ShortLivedMap } from './short-lived-map.ts'
import { untilDefinite } from './until-definite.ts'

export interface RunnerParts {
  readonly store: Store
  readonly branches: BranchCaller
  readonly clock: Clock
  readonly ids: Ids
  readonly observer: EngineObserver
  readonly alarms: AlarmClock
  readonly refuseCall?: RefuseCall
  readonly bulkhead: Bulkhead
  readonly settings: Pick<EngineSettings, 'holdMs' | 'timeoutMsMax' | 'retryFloorMs' | 'parkAfterMs'>
  /** Final and durable. */
  readonly onFinished: (gid: Gid, view: () => TransactionView) => void
  /** Not run here any more, though it goes on: due again at that instant of this node's clock, if known. */
  readonly onGivenBack: (gid: Gid, dueAt: number | undefined) => void
}

const WAKE_MS_MAX = 10_000
/** No failed attempt, since nobody was asked: it does not count against a retry limit. */
const NOT_SENT = { result: 'ongoing', error: 'not-sent' } as const
/** Of a call with an empty URL, which asks nobody. */
const NOBODY = { result: 'success' } as const
/** Nobody has said that the sender's transaction has committed. */
const NOBODY_TO_ASK = { result: 'unknown', error: 'no-query-back' } as const

export type CommandOutcome =
  | { readonly type: 'durable'; readonly view: TransactionView }
  | { readonly type: 'refused'; readonly refusal: Refusal; readonly status: Status }
  /** Another node's command has come between: give it again. */
  | { readonly type: 'again' }
  /** No save of a run here speaks for it: ask the store. */
  | { readonly type: 'ask-store' }

export class Runner {
  readonly #parts: RunnerParts
  readonly #held = new ShortLivedMap<Gid, Held>()
  readonly #retryBounds: RetryBounds
  readonly #emptied: (() => void)[] = []
  #recovered = 0
  #draining: 'no' | 'when-calls-end' | 'now' = 'no'
  #isClosed = false

  constructor(parts: RunnerParts) {
    this.#parts = parts
    const { retryFloorMs: floorMs, parkAfterMs } = parts.settings
    this.#retryBounds = { floorMs, parkAfterMs }
  }

  get size(): number {
    return this.#held.size
  }

  /** How many of them were claimed, not accepted here. */
  get recovered(): number {
    return this.#recovered
  }

  holds(gid: Gid): boolean {
    return this.#held.has(gid)
  }

  runs(): Run[] {
    return this.#held.values().map(({ run }) => run)
  }

  get(gid: Gid): Run | undefined {
    return this.#held.get(gid)?.run
  }

  view(gid: Gid): TransactionView | undefined {
    const held = this.#held.get(gid)
    return held === undefined ? undefined : viewRun(held.run)
  }

  /**
   * Runs it from here. An older run of the same gid has lost its token by that. What was accepted here brings the places that
   * its submit has taken, and keeps them until it makes its first call.
   */
  hold(run: Run, from: Admission | undefined | 'claim', placesOfRun: number): void {
    const admission = from === 'claim' ? undefined : from
    // A create or a claim that was answered too late: its lease runs out.
    if (this.#isClosed) {
      admission?.end()
      return
    }
    const { gid } = run.transaction
    const older = this.#held.get(gid)
    if (older !== undefined) this.#end(older, gid, { type: 'ended', how: 'lost' })
    const isRecovered = from === 'claim'
    const places = this.#parts.bulkhead.places(isRecovered, placesOfRun)
    const held: Held = {
      run,
      tickAt: Number.POSITIVE_INFINITY,
      onDurable: [],
      isRecovered,
      places,
      admission,
      noRoomFor: undefined,
      hasLeft: false,
    }
    this.#held.set(gid, held)
    if (isRecovered) this.#recovered++
    this.#step(held, this.#draining === 'no' ? { type: 'tick' } : { type: 'drain', when: this.#draining })
  }

  /** To the run that has this token, if it is still here. */
  tell(gid: Gid, token: string, event: RunEvent): void {
    const held = this.#held.get(gid)
    if (held !== undefined && held.run.token === token) this.#step(held, event)
  }

  async command(gid: Gid, command: Command): Promise<CommandOutcome> {
    const held = this.#held.get(gid)
    if (held === undefined) return { type: 'ask-store' }
    const { lastStrongChange } = held.run
    if (findRefusal(held.run.transaction, command) === undefined)
      this.#step(held, { type: 'command', command })
    const isSaved = held.run.lastStrongChange > lastStrongChange
    if (!(await this.#durable(held))) return { type: 'ask-store' }
    const verdict = judgeCommand(held.run, command, isSaved)
    if (verdict === 'done') return { type: 'durable', view: viewDurable(held.run) }
    if (verdict === 'again' || verdict === 'ask-store') return { type: verdict }
    return { type: 'refused', refusal: verdict, status: held.run.durableTransaction.status }
  }

  /** Gives everything back: when its calls have ended, or at once. */
  drain(when: 'when-calls-end' | 'now'): void {
    this.#draining = when
    this.#parts.bulkhead.turns.close()
    for (const held of this.#held.values()) this.#step(held, { type: 'drain', when })
  }

  /** What could not be given back is left to its lease: nothing goes on here after this. */
  close(): void {
    this.#isClosed = true
    for (const held of this.#held.values()) this.#giveUp(held)
  }

  empty(): Promise<void> {
    if (this.#held.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#emptied.push(resolve))
  }

  /** Until the strong changes that are in memory now are durable. False where the run has ended before that. */
  async #durable({ run, onDurable }: Held): Promise<boolean> {
    const { ended, lastSavedChange, lastStrongChange } = run
    if (ended || lastSavedChange >= lastStrongChange) return !ended
    return new Promise((tell) => onDurable.push({ change: lastStrongChange, tell }))
  }

  #step(held: Held, event: RunEvent): void {
    try {
      const before = held.run.transaction
      const { run, effects } = stepRun(RULES, held.run, event, this.#parts.clock.now())
      held.run = run
      if (beginsToNeedAttention(before, run.transaction)) this.#tellAttention(run.transaction)
      for (const effect of effects) this.#act(held, effect)
    } catch (error: unknown) {
      // A bug: this attempt stops here; the lease runs out and the row is looked at again.
      const { gid } = held.run.transaction
      this.#parts.observer.event({ level: 'error', name: 'transaction-step-failed', gid, error })
      this.#giveUp(held)
    }
  }

  /** Before it is durable: after a crash the next owner may tell it again. */
  #tellAttention({ gid, attention: detail = '' }: Transaction): void {
    this.#parts.observer.event({ level: 'warn', name: 'transaction-needs-attention', gid, detail })
  }

  #giveUp(held: Held): void {
    if (held.run.ended) return
    held.run = { ...held.run, ended: true }
    this.#end(held, held.run.transaction.gid, { type: 'ended', how: 'lost' })
  }

  #act(held: Held, effect: RunEffect): void {
    switch (effect.type) {
      case 'call':
        this.#call(held, effect.call, effect.attempt)
        break
      case 'save':
        void this.#save(held, effect.update)
        break
      case 'reread':
        void this.#reread(held)
        break
      case 'wake-at':
        this.#wakeAt(held, effect.at)
        break
      case 'durable':
        tellDurable(held, effect.lastSavedChange)
        break
      case 'ended':
        this.#end(held, held.run.transaction.gid, effect)
        break
    }
  }

  #call(held: Held, call: CallKey, attempt: number): void {
    const { bulkhead, settings } = this.#parts
    const url = urlOfCall(held.run.transaction, call)
    // One without a URL asks nobody.
    if (url === '') {
      void this.#ask(held, branchCall(held.run, call, attempt, settings.timeoutMsMax), call)
      return
    }
    const target = bulkhead.find(url)
    held.admission?.end()
    if (!held.places.enter(target)) {
      this.#holdBack(held, call, attempt, target)
      return
    }
    const request = branchCall(held.run, call, attempt, settings.timeoutMsMax)
    const lane = bulkhead.turns.laneOf(call.op, held.isRecovered)
    const waiting = bulkhead.turns.enter(target, lane)
    if (waiting === undefined) void this.#ask(held, request, call, target, lane)
    else void this.#askInTurn(held, request, call, { target, lane, waiting })
  }

  /** The calls of one step that find no room are held back together: a saga of a hundred branches looks once, not a hundred times. */
  #holdBack(held: Held, call: CallKey, attempt: number, target: Target): void {
    const { bulkhead, ids } = this.#parts
    const { noRoomFor = [] } = held
    // Later in this turn of the loop: the step that wants this call is not over.
    if (held.noRoomFor === undefined) queueMicrotask(() => this.#tellHeldBack(held))
    held.noRoomFor = noRoomFor
    const waitMs =
      noRoomFor.find((other) => other.target === target)?.waitMs ??
      bulkhead.waitForRoom(target, held.places, ids.jitter())
    noRoomFor.push({ target, call, attempt, waitMs })
  }

  #tellHeldBack(held: Held): void {
    const { noRoomFor: calls = [] } = held
    held.noRoomFor = undefined
    this.#step(held, { type: 'held-back', calls })
  }

  async #askInTurn(held: Held, request: BranchCall, call: CallKey, turn: Turn): Promise<void> {
    const { bulkhead, ids } = this.#parts
    const { target, lane } = turn
    const noTurn = await turn.waiting
    if (noTurn === undefined) {
      await this.#ask(held, request, call, target, lane)
      return
    }
    held.places.withdraw(target)
    const waitMs = bulkhead.holdBack(target, ids.jitter(), noTurn.leastMs)
    this.#step(held, { type: 'held-back', calls: [{ call, attempt: request.attempt, waitMs }] })
  }

  /** A call without a target asks nobody. One with a target has its turn in the lane, which ends here. */
  async #ask(
    held: Held,
    request: BranchCall,
    call: CallKey,
    target?: Target,
    lane?: CallLane,
  ): Promise<void> {
    const { clock, branches, observer, ids } = this.#parts
    try {
      const startedAt = clock.now()
      // Before its first call a target has had nothing to answer.
      if (target?.callsInFlight === 1) target.answeredAt = startedAt
      // It may have waited for its turn: whether it may be sent is judged when the call starts.
      const answer = mayStart(held.run, call, startedAt)
        ? (this.#refuse(held, request) ?? (await answerTo(branches, request)))
        : NOT_SENT
      const durationMs = Math.round(clock.now() - startedAt)
      observer.branchCalled(call.op, answer.result, durationMs)
      if (target !== undefined) {
        const isOver = isDefinite(answer)
        if (isOver) target.answeredAt = startedAt + durationMs
        if (isOver && held.isRecovered) target.recoveredAnswers++
        held.places.leave(target, isOver)
      }
      const { attempt } = request
      const bounds = this.#retryBounds
      this.#step(held, {
        type: 'answered',
        call,
        attempt,
        answer,
        durationMs,
        jitter01: ids.jitter(),
        bounds,
      })
    } catch (error: unknown) {
      this.#attemptFailed(held, error)
    } finally {
      if (target !== undefined) lane?.leave(target)
    }
  }

  #refuse({ run }: Held, { url }: BranchCall): BranchAnswer | undefined {
    const error = this.#parts.refuseCall?.(run.transaction.definition, url)
    return error === undefined ? undefined : { result: 'unknown', error }
  }

  async #save(held: Held, update: Extract<RunEffect, { type: 'save' }>['update']): Promise<void> {
    const { store, clock, ids } = this.#parts
    try {
      const write = { ...update, writeId: ids.writeId() }
      const result = await untilDefinite(
        clock,
        () => store.update(write),
        () => held.run.ended,
      )
      if (result === undefined) return
      if (result.type !== 'saved') {
        this.#parts.observer.event({ level: 'info', name: `save-${result.type}`, gid: update.gid })
      }
      this.#step(held, { type: 'saved', result })
    } catch (error: unknown) {
      this.#attemptFailed(held, error)
    }
  }

  async #reread(held: Held): Promise<void> {
    const { store, clock } = this.#parts
    const { gid } = held.run.transaction
    try {
      const rows = await untilDefinite(
        clock,
        () => store.readMany([gid]),
        () => held.run.ended,
      )
      if (rows !== undefined) this.#step(held, { type: 'reread', row: rows[0] })
    } catch (error: unknown) {
      this.#attemptFailed(held, error)
    }
  }

  /** A bug, never a branch's or the store's answer. */
  #attemptFailed(held: Held, error: unknown): void {
    const { gid } = held.run.transaction
    this.#parts.observer.event({ level: 'error', name: 'transaction-attempt-failed', gid, error })
    // Also when it was the save: the run would wait for its answer for ever.
    this.#giveUp(held)
  }

  /** Alarms are not taken back, so none is set far ahead, and none keeps a run that has ended: a tick may come early. */
  #wakeAt(held: Held, wantedAt: number): void {
    const { alarms, clock } = this.#parts
    const at = Math.min(wantedAt, clock.now() + WAKE_MS_MAX)
    if (at >= held.tickAt) return
    held.tickAt = at
    const { gid } = held.run.transaction
    alarms.ringAt(at, () => this.#ring(gid, at))
  }

  #ring(gid: Gid, at: number): void {
    const held = this.#held.get(gid)
    if (held === undefined || held.tickAt !== at) return
    held.tickAt = Number.POSITIVE_INFINITY
    this.#step(held, { type: 'tick' })
  }

  #end(held: Held, gid: Gid, effect: Extract<RunEffect, { type: 'ended' }>): void {
    if (this.#held.get(gid) === held) this.#held.delete(gid)
    this.#giveUpPlaces(held)
    held.run = held.run.ended ? held.run : { ...held.run, ended: true }
    for (const { tell } of held.onDurable.splice(0)) tell(false)
    const { transaction, storeOffsetMs } = held.run
    if (effect.how === 'finished' && isFinal(transaction)) {
      const { kind, status, finishedAt, createdAt } = transaction
      this.#parts.observer.finished(kind, status, finishedAt - createdAt)
      this.#parts.onFinished(gid, () => viewRun(held.run))
    } else {
      if (effect.how === 'lost') this.#parts.observer.event({ level: 'warn', name: 'transaction-lost', gid })
      this.#parts.onGivenBack(gid, effect.dueAt === undefined ? undefined : effect.dueAt - storeOffsetMs)
    }
    if (this.#held.size === 0) for (const tell of this.#emptied.splice(0)) tell()
  }

  /** Once, however often its end is told. */
  #giveUpPlaces(held: Held): void {
    if (held.hasLeft) return
    held.hasLeft = true
    if (held.isRecovered) this.#recovered--
    held.places.clear()
    held.admission?.end()
  }
}

/** A call that waits for its turn. */
interface Turn {
  readonly target: Target
  readonly lane: CallLane
  readonly waiting: Promise<NoTurn | undefined>
}

function isDefinite({ result }: BranchAnswer): boolean {
  return result === 'success' || result === 'failure'
}

function answerTo(branches: BranchCaller, request: BranchCall): Promise<BranchAnswer> {
  if (request.url !== '') return branches.call(request)
  return Promise.resolve(request.op === 'msg' ? NOBODY_TO_ASK : NOBODY)
}

/** The state in which a call may be sent: no action once the transaction has turned around. */
const STATUS_OF: Readonly<Record<CallKey['op'], Status>> = {
  action: 'submitted',
  compensate: 'aborting',
  confirm: 'submitted',
  cancel: 'aborting',
  msg: 'prepared',
}

/** Not after the lease, no action after the deadline, and not what another decision has overtaken. */
function mayStart(run: Run, { op }: CallKey, now: number): boolean {
  const { ended, leaseUntil, save, transaction } = run
  if (ended || now >= leaseUntil || save?.hold === 'release' || isFinal(transaction)) return false
  const isSagaAction = transaction.kind === 'saga' && op === 'action'
  if (isSagaAction && isOverdue(transaction, storeNow(run, now))) return false
  return transaction.status === STATUS_OF[op]
}

function viewRun(run: Run): TransactionView {
  return viewTransaction(run.transaction, run.durableTransaction.status)
}

/** Where a strong change waits for its save, without what came since the last one. */
function viewDurable(run: Run): TransactionView {
  const { durableTransaction, lastSavedChange, lastStrongChange } = run
  return lastSavedChange >= lastStrongChange
    ? viewRun(run)
    : viewTransaction(durableTransaction, durableTransaction.status)
}

function tellDurable(held: Held, lastSavedChange: number): void {
  if (held.onDurable.length === 0) return
  for (const waiting of held.onDurable.splice(0)) {
    if (waiting.change <= lastSavedChange) waiting.tell(true)
    else held.onDurable.push(waiting)
  }
}
