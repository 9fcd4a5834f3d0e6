/**
 * Checks a world while it runs. Each violation is named by the invariant that
 * it breaks. `final-audit.ts` checks the end of a world.
 */
import type {
  AbortDecision,
  CallKey,
  Run,
  SagaOp,
  StoredTransaction,
  Transaction,
  TransactionUpdate,
} from '@counterstep/core'
import { type Gid, isFinalStatus, type Status } from '@counterstep/protocol'
import type { BranchState, Participants } from '../branches/participant.ts'
import type { Plan } from '../clients/plan.ts'
import type { SagaPlan } from '../clients/saga-plan.ts'
import { readRecord } from '../world/read-record.ts'
import type { SimStore } from '../world/sim-store.ts'
import type { World } from '../world/world.ts'
import type { AuditLog, Log } from './audit-log.ts'
import { CallPace } from './call-pace.ts'
import { ClientAudit } from './client-audit.ts'
import { OperatorAudit } from './operator-audit.ts'
import { PreparedAudit } from './prepared-audit.ts'
import { newPreparedLog } from './prepared-log.ts'
import { SagaCallAudit } from './saga-call-audit.ts'
import { newSagaLog, type SagaLog, toMask } from './saga-log.ts'
import { StagesAudit } from './stages-audit.ts'
import { checkTrouble } from './trouble-audit.ts'
import { mayTurnForValue } from './usable-values.ts'

export interface Violation {
  readonly invariant: string
  readonly gid: string
  readonly at: number
  readonly text: string
}

const VIOLATIONS_MAX = 20
const NEXT: Readonly<Record<Status, readonly Status[]>> = {
  // A TCC without branches goes straight to succeeded, and a message without anything to undo straight to failed.
  prepared: ['prepared', 'submitted', 'aborting', 'succeeded', 'failed', 'stopped'],
  // A saga goes straight to failed only where nothing is to be undone, which `#checkDecision` checks.
  submitted: ['submitted', 'aborting', 'succeeded', 'failed', 'stopped'],
  aborting: ['aborting', 'failed', 'stopped'],
  succeeded: [],
  failed: [],
  stopped: [],
}

export class Auditor implements AuditLog {
  readonly violations: Violation[] = []
  readonly logs = new Map<Gid, Log>()
  readonly prepared: PreparedAudit
  readonly clients: ClientAudit
  readonly pace: CallPace
  readonly stages: StagesAudit
  readonly operators: OperatorAudit
  readonly #sagaCalls: SagaCallAudit
  readonly #world: World
  readonly #tokens = new Set<string>()
  #store: SimStore | undefined
  #participants: Participants | undefined

  constructor(world: World) {
    this.#world = world
    this.prepared = new PreparedAudit(world, this)
    this.clients = new ClientAudit(world, this, this.prepared)
    this.pace = new CallPace(this)
    this.stages = new StagesAudit(world, this)
    this.operators = new OperatorAudit(world, this)
    this.#sagaCalls = new SagaCallAudit(this)
  }

  watch(store: SimStore, participants: Participants): void {
    this.#store = store
    this.#participants = participants
    this.clients.watch(store)
    this.operators.watch(store)
    this.stages.watch(store, participants)
    this.#sagaCalls.watch(participants)
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

  checkCreate(row: StoredTransaction): void {
    this.#checkToken(row)
    this.#note('created', row)
    const log = this.logs.get(row.gid)
    if (log === undefined) this.report('I2', row.gid, 'it was never submitted')
    else if (row.digest !== log.plan.digest)
      this.report('I17', row.gid, 'it has other content than the first')
    if (log?.isRefused === true)
      this.report('I21', row.gid, 'stored, though its client was told that it is not')
  }

  checkClaim(row: StoredTransaction): void {
    this.#checkToken(row)
    this.#note('claimed', row)
    if (this.log(row.gid).isFinal) this.report('I3', row.gid, 'a final transaction was claimed')
  }

  noteTailLoss(row: StoredTransaction): void {
    this.#note('lost its tail', row)
    this.stages.checkTailLoss(row)
    this.operators.checkWrite(row)
  }

  checkUpdate(before: StoredTransaction, update: TransactionUpdate, row: StoredTransaction): void {
    const { gid } = row
    this.#note(update.hold.type, row)
    if (before.token !== update.token || before.version !== update.version) {
      this.report('I14', gid, `a write under token ${update.token} version ${update.version} was accepted`)
    }
    if (!mayFollow(before, row)) {
      this.report('I3', gid, `status went from ${before.status} to ${row.status}`)
    }
    const log = this.log(gid)
    this.operators.checkWrite(row)
    if (!('decision' in log)) this.stages.checkWrite(before, row)
    if ('decision' in log) this.prepared.checkWrite(before, row, log)
    else if (row.status !== 'submitted' || before.status !== 'submitted')
      this.#checkDecision(before, row, log)
    checkTrouble(this, row)
    if (isFinalStatus(row.status)) log.isFinal = true
  }

  #checkToken(row: StoredTransaction): void {
    if (this.#tokens.has(row.token)) this.report('I14', row.gid, `token ${row.token} was issued twice`)
    this.#tokens.add(row.token)
  }

  #checkDecision(before: StoredTransaction, row: StoredTransaction, log: SagaLog): void {
    const saga = readRecord(row)
    const abort = 'abort' in saga ? saga.abort : undefined
    if (abort === undefined) {
      if (log.undo !== undefined && row.status !== 'stopped')
        this.report('I4', row.gid, `${row.status} after an abort decision`)
      return
    }
    const undo = toMask(abort.branches)
    // A saga may end by a wait, which is durable before the end is, and until then a client may abort it.
    const isAsked =
      abort.cause === 'requested' && log.plan.definition.branches.some(({ wait }) => wait !== undefined)
    if (before.status === 'submitted' && !isAsked && hasSucceeded(readRecord(before)))
      this.report('I20', row.gid, 'aborted after its last success was durable')
    if (log.undo === undefined) this.#checkCause(row, saga, abort, log)
    // An owner that knows exactly which actions it sent may end by its own list,
    // though a command on another node listed all branches.
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

  #checkCause(row: StoredTransaction, saga: Transaction, abort: AbortDecision, log: SagaLog): void {
    const { counters } = this.#world
    const { definition, saga: number } = log.plan
    const { branches, deadlineMs, retry } = definition
    const { limit } = branches[abort.branch ?? 0]?.retry ?? retry
    switch (abort.cause) {
      case 'branch-failed':
        counters.abortsByFailure++
        if (this.#participants?.branch(number, abort.branch ?? 0).isRefused !== true)
          this.report('I5', row.gid, `aborted because of branch ${abort.branch}, which never said no`)
        return
      case 'retry-limit':
        counters.abortsByRetryLimit++
        if (limit === null) this.report('I5', row.gid, 'it has no retry limit')
        return
      case 'deadline':
        counters.abortsByDeadline++
        if (deadlineMs === undefined || this.#world.isBefore(row.createdAt + deadlineMs))
          this.report('I20', row.gid, 'aborted before its deadline')
        return
      case 'value-unusable':
        counters.abortsByValue++
        if (!mayTurnForValue(saga, abort.branch ?? 0))
          this.report('I5', row.gid, `aborted for a value, and action ${abort.branch} could be sent`)
        return
      case 'signal-timeout':
        counters.abortsByTimeout++
        if (!hasTimedOut(saga, abort.branch ?? 0))
          this.report('I5', row.gid, `aborted because of wait ${abort.branch}, which had not timed out`)
        return
      case 'requested':
        counters.abortsByRequest++
        if (!log.abortAsked) this.report('I5', row.gid, 'aborted without a request')
        return
    }
  }

  /** Checks a call that a run is sending. `runner` is compared by identity. */
  checkCall(run: Run, call: CallKey, runner: object, nodeNow: number): void {
    const { gid } = run.transaction
    const log = this.log(gid)
    const row = this.#store?.read(gid)
    if (row === undefined) {
      this.report('I1', gid, `${call.op} ${call.branch} sent before the accept was durable`)
      return
    }
    if (nodeNow >= run.leaseUntil) this.report('I14', gid, 'a call was started after the lease')
    // Where clocks are wrong, two owners may both assume a valid lease. Their tokens and the barrier keep them apart.
    const isZombie = row.token !== run.token && this.#world.skewMs > 0
    const isReplaced = row.token !== run.token && !log.isFinal
    if (isReplaced && this.#world.skewMs > 0) this.#world.counters.zombieCalls++
    else if (isReplaced)
      this.report('I14', gid, `${call.op} ${call.branch} was started under a replaced token`)
    if (row.token === run.token && !row.owned && !log.isFinal)
      this.report('I14', gid, `${call.op} ${call.branch} was started on a row that was given back`)
    this.pace.checkCall(run, call, runner, nodeNow)
    this.operators.checkCall(run, call, nodeNow)
    if ('decision' in log) {
      this.prepared.checkCall(run, call, log, isZombie)
      return
    }
    this.#sagaCalls.checkCall(run, row, call, log, runner)
    this.stages.checkCall(run.transaction, call)
  }

  checkEffect(plan: SagaPlan, branch: number, op: SagaOp, state: BranchState): void {
    if (op === 'action') this.stages.noteEffect(plan.gid, branch)
    if (state[op].length > 1) this.report('I7', plan.gid, `${op} ${branch} had its effect twice`)
    if (op === 'action' && state.isCompensated) {
      this.report('I8', plan.gid, `action ${branch} had its effect after its compensation`)
    }
    if (op === 'compensate' && state.action.length === 0) {
      this.report('I9', plan.gid, `compensation ${branch} had an effect before its action`)
    }
    const { finalSeen } = this.log(plan.gid)
    // No barrier blocks a late copy of what a person has declared done.
    if (this.operators.isByHand(plan.gid, branch)) return
    // A late copy of an action without a compensation may have its effect, because no compensation has blocked it.
    if (plan.definition.branches[branch]?.compensation === undefined) return
    if (finalSeen === (op === 'action' ? 'failed' : 'succeeded'))
      this.report('I18', plan.gid, `a client has seen ${finalSeen}, then ${op} ${branch} had its effect`)
  }

  checkAnswer(gid: Gid, status: Status): void {
    this.clients.checkAnswer(gid, status)
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

function hasTimedOut({ branches, ...saga }: Transaction, branch: number): boolean {
  if (saga.kind !== 'saga') return false
  const [wait, progress] = [saga.definition.branches[branch]?.wait, branches[branch]]
  const isFailed = progress !== undefined && 'action' in progress && progress.action.state === 'failed'
  return wait?.type === 'signal' && wait.onTimeout === 'abort' && isFailed
}

function hasSucceeded(transaction: Transaction): boolean {
  return (
    transaction.kind === 'saga' && transaction.branches.every(({ action }) => action.state === 'succeeded')
  )
}

function mayFollow(before: StoredTransaction, { status }: StoredTransaction): boolean {
  const isDecided = before.status === 'submitted' && before.kind !== 'saga'
  if (isDecided && (status === 'aborting' || status === 'failed')) return false
  return NEXT[before.status].includes(status)
}

function bits(mask: number): string {
  return mask.toString(2).padStart(5, '0')
}
