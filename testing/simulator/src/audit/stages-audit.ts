/**
 * Checks the waits and the point of no return of sagas. No wait ends early unless a person ends it, and a wait for a signal ends once (I33). A signal
 * that was acknowledged stays and counts once (I34). Nothing that cannot be undone is called before the mark of no return is
 * durable, and then only the pivot's own failure turns the saga around (I35).
 */
import {
  type CallKey,
  hasStages,
  type OpProgress,
  type SagaOp,
  type SagaTransaction,
  type Signal,
  type StoredTransaction,
  type Transaction,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { Participants } from '../branches/participant.ts'
import { readRecord } from '../world/read-record.ts'
import type { SimStore } from '../world/sim-store.ts'
import type { World } from '../world/world.ts'
import type { AuditLog } from './audit-log.ts'
import type { SagaLog } from './saga-log.ts'

export type SignalState = 'taken' | 'kept'

export class StagesAudit {
  readonly #world: World
  readonly #audit: AuditLog
  #store: SimStore | undefined
  #participants: Participants | undefined

  constructor(world: World, audit: AuditLog) {
    this.#world = world
    this.#audit = audit
  }

  watch(store: SimStore, participants: Participants): void {
    this.#store = store
    this.#participants = participants
  }

  /** Notes when an action took effect first. What waits for it opens no earlier. */
  noteEffect(gid: Gid, branch: number): void {
    const log = this.#findLog(gid)
    if (log !== undefined) log.effectAt[branch] ??= this.#world.storeNow
  }

  /** Notes that a signal of this name is on its way, and perhaps taken soon. */
  noteSignal(gid: Gid, name: string): void {
    const log = this.#findLog(gid)
    if (log !== undefined) log.signalAt.set(name, log.signalAt.get(name) ?? this.#world.storeNow)
  }

  /** Checks what a node is about to answer to the sender of a signal. */
  checkAnswer(gid: Gid, id: string, state: SignalState): void {
    const log = this.#findLog(gid)
    const row = this.#store?.read(gid)
    if (log === undefined || row === undefined) return
    const { counters } = this.#world
    if (state === 'taken') counters.signalsTaken++
    else counters.signalsKept++
    if (log.signals.get(id) !== 'taken') log.signals.set(id, state)
    this.#checkSignals(readSaga(row), log)
  }

  checkTailLoss(row: StoredTransaction): void {
    const log = this.#findLog(row.gid)
    if (log !== undefined) this.#checkSignals(readSaga(row), log)
  }

  checkWrite(before: StoredTransaction, row: StoredTransaction): void {
    const log = this.#findLog(row.gid)
    if (log === undefined) return
    const [earlier, saga] = [readSaga(before), readSaga(row)]
    // An action that a person has declared done is over from then on.
    saga.branches.forEach(({ action }, branch) => {
      if (action.byHand !== undefined) log.effectAt[branch] ??= action.byHand.at
    })
    log.plan.definition.branches.forEach((target, branch) => {
      if (target.wait !== undefined) this.#checkWait(log, branch, earlier, saga)
    })
    this.#checkSignals(saga, log)
    this.#checkMark(log, earlier, saga)
  }

  /** Checks that the waits before this action have had their time, and that nothing is undone after the pivot. */
  checkCall(transaction: Transaction, { branch, op }: CallKey): void {
    const { gid } = transaction
    const log = this.#findLog(gid)
    if (log === undefined || transaction.kind !== 'saga') return
    if (op === 'compensate') {
      for (const done of this.#listPassed(log))
        this.#audit.report('I35', gid, `compensation ${branch} sent after branch ${done} took effect`)
      return
    }
    for (const before of log.plan.definition.branches[branch]?.after ?? []) {
      if (log.plan.definition.branches[before]?.wait === undefined) continue
      if (this.#world.isBefore(this.#findEarliestEnd(log, before, transaction)))
        this.#audit.report('I33', gid, `action ${branch} sent before wait ${before} could end`)
    }
  }

  checkArrival(gid: Gid, branch: number, op: SagaOp): void {
    const log = this.#findLog(gid)
    const row = this.#store?.read(gid)
    if (log === undefined || row === undefined || op === 'compensate') return
    if (log.plan.definition.branches[branch]?.role === undefined || log.arrived.has(branch)) return
    log.arrived.add(branch)
    if (readSaga(row).noReturnAt === undefined)
      this.#audit.report('I35', gid, `branch ${branch} was called before the mark of no return was durable`)
  }

  checkEnd(row: StoredTransaction): void {
    const log = this.#findLog(row.gid)
    if (log === undefined || row.status !== 'failed') return
    for (const done of this.#listPassed(log))
      this.#audit.report('I35', row.gid, `failed, though branch ${done} took effect, which cannot be undone`)
  }

  #findLog(gid: Gid): SagaLog | undefined {
    const log = this.#audit.log(gid)
    return 'decision' in log || !hasStages(log.plan.definition) ? undefined : log
  }

  #listPassed({ plan }: SagaLog): readonly number[] {
    return [...plan.definition.branches.keys()].filter(
      (branch) =>
        plan.definition.branches[branch]?.role !== undefined &&
        (this.#participants?.branch(plan.saga, branch).action.length ?? 0) > 0,
    )
  }

  /** Finds the earliest instant at which a branch can have succeeded, by the store's clock. */
  #findEarliestEnd(log: SagaLog, branch: number, saga: SagaTransaction): number {
    const { wait } = log.plan.definition.branches[branch] ?? {}
    // The node that opens a wait knows the store's clock only as of its last reading, which is never late.
    if (wait === undefined) return (log.effectAt[branch] ?? Number.POSITIVE_INFINITY) - this.#world.lagMs
    const opensAt = this.#findEarliestOpening(log, branch, saga)
    const { byHand } = saga.branches[branch]?.action ?? {}
    if (byHand !== undefined) return Math.max(opensAt, byHand.at)
    if (wait.type === 'signal')
      return Math.min(
        Math.max(opensAt, (log.signalAt.get(wait.name) ?? Number.POSITIVE_INFINITY) - this.#world.lagMs),
        opensAt + (wait.timeoutMs ?? Number.POSITIVE_INFINITY),
      )
    return wait.type === 'ms' ? opensAt + Number(wait.ms) : Math.max(opensAt, Number(wait.until))
  }

  /** The opening that the saga has recorded is at least as late as what must have been before it. */
  #findEarliestOpening(log: SagaLog, branch: number, saga: SagaTransaction): number {
    const { after = [] } = log.plan.definition.branches[branch] ?? {}
    const startAt = saga.createdAt + (log.plan.definition.delayMs ?? 0)
    const recorded = saga.branches[branch]?.action.startedAt ?? 0
    return Math.max(startAt, recorded, ...after.map((before) => this.#findEarliestEnd(log, before, saga)))
  }

  #checkWait(log: SagaLog, branch: number, earlier: SagaTransaction, saga: SagaTransaction): void {
    const before = earlier.branches[branch]?.action
    const after = saga.branches[branch]?.action
    if (before === undefined || after === undefined) return
    const { gid } = log.plan
    if (after.state === 'open' && before.state !== 'open') this.#noteOpening(log, branch, after)
    if (isEnded(before)) {
      if (before.state !== after.state || before.error !== after.error)
        this.#audit.report('I33', gid, `wait ${branch} ended twice: ${toEnd(before)}, then ${toEnd(after)}`)
      return
    }
    if (!isEnded(after)) return
    const wait = log.plan.definition.branches[branch]?.wait
    const takers = (saga.signals ?? []).filter(({ takenBy }) => takenBy === branch)
    const isTimeout = after.error !== undefined
    const opensAt = this.#findEarliestOpening(log, branch, saga)
    const earliest =
      isTimeout && wait?.type === 'signal'
        ? opensAt + (wait.timeoutMs ?? Number.POSITIVE_INFINITY)
        : this.#findEarliestEnd(log, branch, saga)
    if (this.#world.isBefore(earliest))
      this.#audit.report('I33', gid, `wait ${branch} ended early: ${toEnd(after)}`)
    if (isTimeout) this.#world.counters.signalTimeouts++
    const isRight = wait?.type === 'signal' && !isTimeout ? takers.length === 1 : takers.length === 0
    if (!isRight)
      this.#audit.report('I33', gid, `wait ${branch} ended ${toEnd(after)} by ${takers.length} signals`)
  }

  #noteOpening(log: SagaLog, branch: number, { nextAt = 0 }: OpProgress): void {
    const wait = log.plan.definition.branches[branch]?.wait
    this.#world.counters.waitsOpened++
    if (wait?.type === 'signal') log.onOpen?.(wait.name, nextAt - this.#world.storeNow)
  }

  #checkSignals(saga: SagaTransaction, log: SagaLog): void {
    const { gid } = saga
    const { signals = [] } = saga
    const ids = new Set(signals.map(({ id }) => id))
    if (ids.size !== signals.length) this.#audit.report('I34', gid, 'the record has a signal twice')
    for (const [id, state] of log.signals) {
      const signal = signals.find((each) => each.id === id)
      if (signal === undefined)
        this.#audit.report('I34', gid, `signal ${id} was acknowledged, and the record lacks it`)
      else if (state === 'taken' && !hasEndedWait(saga, signal))
        this.#audit.report('I34', gid, `signal ${id} was told to be taken, and has ended no wait`)
    }
    for (const [place, signal] of signals.entries()) this.#checkOrder(saga, signal, signals.slice(0, place))
  }

  #checkOrder(saga: SagaTransaction, signal: Signal, older: readonly Signal[]): void {
    const { gid, definition, branches } = saga
    if (signal.takenBy === undefined) {
      const isAwaited = definition.branches.some(
        ({ wait }, branch) =>
          wait?.type === 'signal' && wait.name === signal.name && branches[branch]?.action.state === 'open',
      )
      if (isAwaited && saga.status === 'submitted')
        this.#audit.report('I34', gid, `signal ${signal.id} is kept, though a wait for it is open`)
      return
    }
    const passed = older.find(({ name, takenBy }) => name === signal.name && takenBy === undefined)
    if (passed !== undefined)
      this.#audit.report('I34', gid, `signal ${signal.id} was taken before the older ${passed.id}`)
    if (older.some(({ takenBy }) => takenBy === signal.takenBy))
      this.#audit.report('I34', gid, `wait ${signal.takenBy} has taken two signals`)
  }

  #checkMark(log: SagaLog, earlier: SagaTransaction, saga: SagaTransaction): void {
    const { gid } = saga
    if (saga.noReturnAt !== undefined && !log.isMarked) this.#world.counters.marks++
    const wasMarked = log.isMarked || earlier.noReturnAt !== undefined
    log.isMarked = wasMarked || saga.noReturnAt !== undefined
    const abort = 'abort' in saga ? saga.abort : undefined
    if (!wasMarked) return
    if (abort === undefined) {
      if (saga.noReturnAt === undefined) this.#audit.report('I35', gid, 'the mark of no return was lost')
      return
    }
    const { branches } = log.plan.definition
    const isOwnFailure =
      abort.cause === 'branch-failed' &&
      branches[abort.branch ?? 0]?.role === 'pivot' &&
      this.#participants?.branch(log.plan.saga, abort.branch ?? 0).isRefused === true
    if (!isOwnFailure)
      this.#audit.report('I35', gid, `${abort.cause} of ${abort.branch} turned it around after the mark`)
    else if (!('abort' in earlier)) this.#world.counters.pivotFailures++
  }
}

function readSaga(row: StoredTransaction): SagaTransaction {
  const transaction = readRecord(row)
  if (transaction.kind !== 'saga') throw new TypeError(`${row.gid} is no saga`)
  return transaction
}

function isEnded({ state }: OpProgress): boolean {
  return state === 'succeeded' || state === 'failed'
}

function toEnd({ state, error }: OpProgress): string {
  return error === undefined ? state : `${state} by ${error}`
}

function hasEndedWait({ branches }: SagaTransaction, { takenBy }: Signal): boolean {
  const action = takenBy === undefined ? undefined : branches[takenBy]?.action
  return action?.state === 'succeeded' && action.error === undefined
}
