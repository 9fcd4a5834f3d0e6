/** Watches a world while it runs. What it finds is named by the invariant it breaks; `final-audit.ts` looks at the end. */
import {
  type AbortDecision,
  type CallKey,
  decodeTransaction,
  opOf,
  type Run,
  type SagaOp,
  type StoredTransaction,
  type Transaction,
  type TransactionUpdate,
} from '@counterstep/core'
import { type Gid, isFinalStatus, type Status } from '@counterstep/protocol'
import type { Log } from './log.ts'
import type { BranchState, Participants } from './participant.ts'
import type { Plan } from './plan.ts'
import { PreparedAudit } from './prepared-audit.ts'
import { newPreparedLog } from './prepared-log.ts'
import { maskOf, newSagaLog, type SagaLog } from './saga-log.ts'
import type { SagaPlan } from './saga-plan.ts'
import type { SimStore } from './sim-store.ts'
import type { World } from './world.ts'

export interface Violation {
  readonly invariant: string
  readonly gid: string
  readonly at: number
  readonly text: string
}

const VIOLATIONS_MAX = 20
const NEXT: Readonly<Record<Status, readonly Status[]>> = {
  // Straight to succeeded where a TCC has no branches, and to failed where a message has nothing to undo.
  prepared: ['prepared', 'submitted', 'aborting', 'succeeded', 'failed', 'stopped'],
  // Straight to failed where nothing is to be undone: `#checkDecision` looks at that.
  submitted: ['submitted', 'aborting', 'succeeded', 'failed', 'stopped'],
  aborting: ['aborting', 'failed', 'stopped'],
  succeeded: [],
  failed: [],
  stopped: [],
}

export class Auditor {
  readonly violations: Violation[] = []
  readonly logs = new Map<Gid, Log>()
  readonly prepared: PreparedAudit
  readonly #world: World
  readonly #tokens = new Set<string>()
  #store: SimStore | undefined
  #participants: Participants | undefined

  constructor(world: World) {
    this.#world = world
    this.prepared = new PreparedAudit(world, this)
  }

  watch(store: SimStore, participants: Participants): void {
    this.#store = store
    this.#participants = participants
  }

  register(plan: Plan): void {
    this.logs.set(plan.gid, plan.kind === 'saga' ? newSagaLog(plan) : newPreparedLog(plan))
  }

  log(gid: Gid): Log {
    const log = this.logs.get(gid)
    if (log === undefined) throw new RangeError(`no transaction ${gid}`)
    return log
  }

  report(invariant: string, gid: string, text: string): void {
    if (this.#world.trace.isOn) this.#world.trace.line(this.#world.now, `!! ${invariant} ${gid}: ${text}`)
    if (this.violations.length >= VIOLATIONS_MAX) return
    this.violations.push({ invariant, gid, at: this.#world.now, text })
  }

  // ── the store's history ──

  created(row: StoredTransaction): void {
    this.#token(row)
    this.#note('created', row)
  }

  claimed(row: StoredTransaction): void {
    this.#token(row)
    this.#note('claimed', row)
    if (this.log(row.gid).isFinal) this.report('I3', row.gid, 'a final transaction was claimed')
  }

  lost(row: StoredTransaction): void {
    this.#note('lost its tail', row)
  }

  updated(before: StoredTransaction, update: TransactionUpdate, row: StoredTransaction): void {
    const { gid } = row
    this.#note(update.hold.type, row)
    if (before.token !== update.token || before.version !== update.version) {
      this.report('I14', gid, `a write under token ${update.token} version ${update.version} was accepted`)
    }
    if (!mayFollow(before, row)) {
      this.report('I3', gid, `status went from ${before.status} to ${row.status}`)
    }
    const log = this.log(gid)
    if ('turn' in log) this.prepared.written(before, row, log)
    else if (row.status !== 'submitted' || before.status !== 'submitted')
      this.#checkDecision(before, row, log)
    if (isFinalStatus(row.status)) log.isFinal = true
  }

  #token(row: StoredTransaction): void {
    if (this.#tokens.has(row.token)) this.report('I14', row.gid, `token ${row.token} was issued twice`)
    this.#tokens.add(row.token)
  }

  #checkDecision(before: StoredTransaction, row: StoredTransaction, log: SagaLog): void {
    const saga = decodeTransaction(row)
    const abort = 'abort' in saga ? saga.abort : undefined
    if (abort === undefined) {
      if (log.undo !== undefined && row.status !== 'stopped')
        this.report('I4', row.gid, `${row.status} after an abort decision`)
      return
    }
    const undo = maskOf(abort.branches)
    if (log.undo === undefined) this.#checkCause(row, abort, log)
    // A runner that knows exactly what it sent may end on its own list, though a command that knew nothing named all.
    else if (row.status === 'aborting' && (log.undo & ~undo) !== 0)
      this.report('I10', row.gid, 'the list to undo was shortened')
    if (row.status === 'stopped') return
    if ((log.sent & ~undo) !== 0) {
      this.report('I10', row.gid, `sent ${bits(log.sent)}, to be undone ${bits(undo)}`)
    }
    if (before.status === 'submitted' && row.status === 'failed') {
      const undone = abort.branches.every(
        (branch) => log.plan.definition.branches[branch]?.compensation === undefined,
      )
      if (!undone) this.report('I3', row.gid, 'failed without a durable abort decision')
    }
    log.undo = undo
  }

  #checkCause(row: StoredTransaction, abort: AbortDecision, log: SagaLog): void {
    const { counters, storeNow } = this.#world
    const { definition, saga } = log.plan
    const { deadlineMs } = definition
    switch (abort.cause) {
      case 'branch-failed':
        counters.abortsByFailure++
        if (this.#participants?.branch(saga, abort.branch ?? 0).isRefused !== true)
          this.report('I5', row.gid, `aborted because of branch ${abort.branch}, which never said no`)
        return
      case 'retry-limit':
        counters.abortsByRetryLimit++
        if (definition.retry.limit === null) this.report('I5', row.gid, 'it has no retry limit')
        return
      case 'deadline':
        counters.abortsByDeadline++
        if (deadlineMs === undefined || storeNow < row.createdAt + deadlineMs)
          this.report('I20', row.gid, 'aborted before its deadline')
        return
      case 'requested':
        counters.abortsByRequest++
        if (!log.abortAsked) this.report('I5', row.gid, 'aborted though nobody asked')
        return
    }
  }

  // ── the calls ──

  /** A runner is sending a call; `runner` stands for itself. */
  called(run: Run, call: CallKey, runner: object, nodeNow: number): void {
    const { gid } = run.transaction
    const log = this.log(gid)
    const row = this.#store?.read(gid)
    if (row === undefined) {
      this.report('I1', gid, `${call.op} ${call.branch} sent before the accept was durable`)
      return
    }
    if (nodeNow >= run.leaseUntil) this.report('I14', gid, 'a call was started after the lease')
    if (row.token !== run.token && !log.isFinal)
      this.report('I14', gid, `${call.op} ${call.branch} was started under a replaced token`)
    if (row.token === run.token && !row.owned && !log.isFinal)
      this.report('I14', gid, `${call.op} ${call.branch} was started on a row that was given back`)
    if ('turn' in log) {
      this.prepared.called(run, call, log)
      return
    }
    if (call.op === 'action') this.#actionSent(run, call.branch, log, runner)
    else this.#compensationSent(run.transaction, call.branch, log)
    if (log.plan.definition.checkpointMs === 0) this.#checkStrict(run, row, call, log)
  }

  #actionSent(run: Run, branch: number, log: SagaLog, runner: object): void {
    const { gid, status } = run.transaction
    log.sent |= 1 << branch
    if (status !== 'submitted')
      this.report('I13', gid, `action ${branch} started by a runner that is ${status}`)
    const owner = log.owners.get(run.token)
    if (owner !== undefined && owner !== runner)
      this.report('I14', gid, `two runners start actions under token ${run.token}`)
    log.owners.set(run.token, runner)
    for (const before of log.plan.definition.branches[branch]?.after ?? []) {
      if (this.#participants?.branch(log.plan.saga, before).action.length === 0)
        this.report('I11', gid, `action ${branch} sent before ${before} has succeeded`)
    }
  }

  #compensationSent(transaction: Transaction, branch: number, log: SagaLog): void {
    const { gid } = transaction
    if (log.undo === undefined) {
      this.report('I13', gid, `compensation ${branch} sent before the abort decision was durable`)
    }
    if (!('abort' in transaction) || transaction.abort === undefined) return
    for (const later of log.plan.successors[branch] ?? []) {
      if (!transaction.abort.branches.includes(later)) continue
      if (log.plan.definition.branches[later]?.compensation === undefined) continue
      if (this.#participants?.branch(log.plan.saga, later).isCompensated !== true)
        this.report('I12', gid, `compensation ${branch} sent before that of ${later} has succeeded`)
    }
  }

  /** In strict mode what the call rests on is durable. */
  #checkStrict(run: Run, row: StoredTransaction, call: CallKey, log: SagaLog): void {
    if (row.token !== run.token || log.isFinal) return
    const stored = decodeTransaction(row)
    const forward = call.op === 'action'
    const before = forward
      ? (log.plan.definition.branches[call.branch]?.after ?? [])
      : (log.plan.successors[call.branch] ?? []).filter(
          (later) =>
            log.plan.definition.branches[later]?.compensation !== undefined &&
            log.undo !== undefined &&
            (log.undo & (1 << later)) !== 0,
        )
    for (const branch of before) {
      if (opOf(stored, { branch, op: call.op })?.state !== 'succeeded')
        this.report('strict', row.gid, `${call.op} ${call.branch} sent before ${branch}'s result was durable`)
    }
  }

  // ── the effects ──

  effect(plan: SagaPlan, branch: number, op: SagaOp, state: BranchState): void {
    if (state[op].length > 1) this.report('I7', plan.gid, `${op} ${branch} had its effect twice`)
    if (op === 'action' && state.isCompensated) {
      this.report('I8', plan.gid, `action ${branch} had its effect after its compensation`)
    }
    if (op === 'compensate' && state.action.length === 0) {
      this.report('I9', plan.gid, `compensation ${branch} had an effect before its action`)
    }
  }

  // ── what clients are told ──

  /** A node is about to answer. */
  told(gid: Gid, status: Status): void {
    const row = this.#store?.read(gid)
    if (row === undefined) {
      this.report('I1', gid, `told ${status}, but the store has no such row`)
      return
    }
    if (isFinalStatus(status) && row.status !== status)
      this.report('I19', gid, `told ${status}, but the store has ${row.status}`)
    const log = this.log(gid)
    if ('turn' in log) this.prepared.told(gid, status, log)
  }

  /** An answer to what the client asked at `askedAt` has come. */
  seen(gid: Gid, status: Status, askedAt: number): void {
    const log = this.log(gid)
    if (log.finalSeen !== undefined && askedAt >= log.finalSeenAt && status !== log.finalSeen) {
      if (log.isEndedByCommand && !isFinalStatus(status)) this.#world.counters.staleViews++
      else this.report('I18', gid, `seen ${log.finalSeen}, then ${status}`)
    }
    if (log.finalSeen !== undefined || !isFinalStatus(status)) return
    log.finalSeen = status
    log.finalSeenAt = this.#world.now
  }

  #note(what: string, row: StoredTransaction): void {
    const { trace } = this.#world
    trace.mix(row.version)
    trace.mix(row.status.length)
    if (!trace.isOn) return
    const { gid, token, version, status, sentList, owned, dueAt, progress } = row
    const due = dueAt - (this.#world.storeNow - this.#world.now)
    trace.line(
      this.#world.now,
      `store ${what} ${gid} v${version} ${token} ${status} ${sentList} owned=${owned} due=${due} ${progress}`,
    )
  }
}

function mayFollow(before: StoredTransaction, { status }: StoredTransaction): boolean {
  const isDecided = before.status === 'submitted' && before.kind !== 'saga'
  if (isDecided && (status === 'aborting' || status === 'failed')) return false
  return NEXT[before.status].includes(status)
}

function bits(mask: number): string {
  return mask.toString(2).padStart(5, '0')
}
