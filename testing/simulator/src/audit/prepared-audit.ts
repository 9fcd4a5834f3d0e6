/** Checks TCCs and messages while a world runs. */
import { type CallKey, CHECK, isTwoPhase, type Run, type StoredTransaction } from '@counterstep/core'
import type { Op, Status } from '@counterstep/protocol'
import type { PreparedParticipants, ServiceState } from '../branches/prepared-participant.ts'
import { type PreparedPlan, toTccOp } from '../clients/prepared-plan.ts'
import { readRecord } from '../world/read-record.ts'
import type { World } from '../world/world.ts'
import type { AuditLog } from './audit-log.ts'
import { listHands } from './operator-audit.ts'
import type { Decision, PreparedLog } from './prepared-log.ts'
import { RecordedAudit } from './recorded-audit.ts'

export class PreparedAudit {
  readonly #world: World
  readonly #audit: AuditLog
  readonly #recorded: RecordedAudit
  #participants: PreparedParticipants | undefined

  constructor(world: World, audit: AuditLog) {
    this.#world = world
    this.#audit = audit
    this.#recorded = new RecordedAudit(world, audit)
  }

  watch(participants: PreparedParticipants): void {
    this.#participants = participants
  }

  /** Checks a durable write. */
  checkWrite(before: StoredTransaction, row: StoredTransaction, log: PreparedLog): void {
    const { gid, kind } = row
    const decision = readDecision(row.status)
    if (decision !== undefined && log.decision !== undefined && decision !== log.decision)
      this.#audit.report('I4', gid, `decided ${log.decision}, then ${row.status}`)
    log.decision ??= decision
    if ('knownAt' in log) this.#recorded.checkWrite(before, row, log)
    if (kind !== 'tcc' && kind !== 'xa') return
    const lists = [before, row].map((each) => {
      const tcc = readRecord(each)
      return isTwoPhase(tcc) ? tcc.registered.map(({ id }) => id) : []
    })
    if (before.status !== 'prepared' && lists[0]?.join() !== lists[1]?.join())
      this.#audit.report('I10', gid, `the branches went from ${lists[0]} to ${lists[1]} after the decision`)
    if (lists[0]?.some((id) => lists[1]?.includes(id) !== true) === true)
      this.#audit.report('I10', gid, `the branches went from ${lists[0]} to ${lists[1]}`)
    this.#checkDeadline(before, row)
  }

  #checkDeadline(before: StoredTransaction, row: StoredTransaction): void {
    if (before.status !== 'prepared') return
    const tcc = readRecord(row)
    if (!isTwoPhase(tcc) || !('abort' in tcc) || tcc.abort === undefined) return
    const { cause } = tcc.abort
    if (cause === 'deadline' && this.#world.isBefore(tcc.createdAt + tcc.definition.deadlineMs))
      this.#audit.report('I20', row.gid, 'aborted before its deadline')
    if (cause === 'requested' && !this.#audit.log(row.gid).abortAsked)
      this.#audit.report('I5', row.gid, 'aborted without a request')
    if (cause === 'deadline') this.#world.counters.tccDeadlines++
  }

  /** `isZombie`: another owner has the row by now, and the clock of this one is behind. */
  checkCall(run: Run, { branch, op: given }: CallKey, log: PreparedLog, isZombie: boolean): void {
    if ('knownAt' in log) {
      this.#recorded.checkCall(run, log, isZombie)
      return
    }
    const { gid } = run.transaction
    const op = toTccOp(log.plan, given)
    if (op === 'msg') {
      const { transaction } = run
      const after = transaction.kind === 'message' ? (transaction.definition.check?.afterMs ?? 0) : 0
      if (this.#world.isBefore(transaction.createdAt + after))
        this.#audit.report('I20', gid, 'its sender was asked before the time')
      return
    }
    const wanted: Decision = op === 'cancel' ? 'backward' : 'forward'
    if (log.decision !== wanted)
      this.#audit.report(
        'I13',
        gid,
        `${op} ${branch} sent while it is durably ${log.decision ?? 'undecided'}`,
      )
    if (log.plan.kind === 'message') this.#checkMessageCall(run, branch, log)
    else this.#checkTccCall(run, branch, op)
  }

  #checkTccCall({ transaction }: Run, branch: number, op: Op): void {
    const byHand = listHands(transaction)
    // A TCC begins with its newest branch, and XA with its oldest.
    const before = [...transaction.branches.keys()].filter((other) =>
      transaction.kind === 'xa' ? other < branch : other > branch,
    )
    for (const other of before) {
      if (byHand.includes(other)) continue
      if (this.#state(transaction, other)?.answered[op] !== true)
        this.#audit.report('I12', transaction.gid, `${op} ${branch} sent before ${other} has succeeded`)
    }
  }

  #checkMessageCall({ transaction }: Run, branch: number, log: PreparedLog): void {
    const { gid, definition, createdAt } = transaction
    if (definition.kind !== 'message') return
    if ('hasCommitted' in log && !log.hasCommitted)
      this.#audit.report('message', gid, `branch ${branch} called, and its sender has not committed`)
    if (this.#world.isBefore(createdAt + (definition.delayMs ?? 0)))
      this.#audit.report('I20', gid, `branch ${branch} called before the start`)
    if (
      !definition.concurrent &&
      branch > 0 &&
      !listHands(transaction).includes(branch - 1) &&
      this.#state(transaction, branch - 1)?.answered.action !== true
    )
      this.#audit.report('I11', gid, `action ${branch} sent before ${branch - 1} has succeeded`)
  }

  checkEffect(plan: PreparedPlan, branch: number, op: Op, { effects, answered }: ServiceState): void {
    const log = this.#audit.log(plan.gid)
    const report = (invariant: string, text: string) => this.#audit.report(invariant, plan.gid, text)
    if ((effects[op] ?? 0) > 1) report('I7', `${op} ${branch} had its effect twice`)
    if (op === 'try' && answered.cancel === true)
      report('I8', `try ${branch} had its effect after its cancel`)
    if (op === 'cancel' && effects.try === undefined)
      report('I9', `cancel ${branch} had an effect before its try`)
    if (op === 'confirm' && effects.try === undefined)
      report('I9', `confirm ${branch} had an effect without a try`)
    if (!('confirmed' in log)) return
    if (op === 'confirm') log.confirmed++
    if (op === 'cancel') log.cancelled++
    if (log.confirmed > 0 && log.cancelled > 0) report('I16', 'one branch was confirmed, and one cancelled')
  }

  /** Checks a status that a client is told. */
  checkAnswer(gid: PreparedPlan['gid'], status: Status, log: PreparedLog): void {
    const decision = readDecision(status)
    if (decision === undefined) return
    if (log.decision !== decision)
      this.#audit.report('I19', gid, `told ${status}, but the store was ${log.decision}`)
    log.told ??= decision
  }

  /** Checks a final row at the end of a world. */
  checkEnd(row: StoredTransaction, log: PreparedLog): void {
    const { gid, status } = row
    const byHand = listHands(readRecord(row))
    if (log.told !== undefined && status !== 'stopped' && readDecision(status) !== log.told)
      this.#audit.report('I18', gid, `a client was told ${log.told}, and it is ${status}`)
    if (status === 'stopped') return
    if ('knownAt' in log) this.#recorded.checkEnd(row, log)
    else if (log.plan.kind === 'tcc') this.#checkTccEnd(gid, status, log, byHand)
    else this.#checkMessageEnd(gid, status, log, byHand)
  }

  #checkTccEnd(gid: PreparedPlan['gid'], status: Status, log: PreparedLog, byHand: readonly number[]): void {
    if (!('tried' in log)) return
    log.plan.branches.forEach((_, branch) => {
      if (byHand.includes(branch)) return
      const { effects, answered } = this.#state({ gid }, branch) ?? { effects: {}, answered: {} }
      const isRegistered = (log.registered & (1 << branch)) !== 0
      const told = `branch ${branch}: ${JSON.stringify(effects)}`
      if (status === 'succeeded') {
        if (isRegistered && (effects.confirm !== 1 || effects.cancel !== undefined))
          this.#audit.report('I5', gid, `succeeded, but ${told}`)
        return
      }
      if (effects.confirm !== undefined || (effects.try ?? 0) !== (effects.cancel ?? 0))
        this.#audit.report('I6', gid, `failed, but ${told}`)
      // A try that is still on its way must arrive after the cancel.
      if ((log.tried & (1 << branch)) !== 0 && answered.cancel !== true)
        this.#audit.report('I10', gid, `failed, and branch ${branch}, which may have run, was not cancelled`)
    })
  }

  #checkMessageEnd(
    gid: PreparedPlan['gid'],
    status: Status,
    log: PreparedLog,
    byHand: readonly number[],
  ): void {
    if (!('hasCommitted' in log)) return
    if (log.hasCommitted !== (status === 'succeeded'))
      this.#audit.report(
        'message',
        gid,
        `${status}, and its sender has ${log.hasCommitted ? '' : 'not '}committed`,
      )
    log.plan.definition.branches.forEach((_, branch) => {
      if (byHand.includes(branch)) return
      const delivered = this.#state({ gid }, branch)?.effects.action ?? 0
      if (delivered !== (log.hasCommitted ? 1 : 0))
        this.#audit.report('message', gid, `${status}, and branch ${branch} was delivered ${delivered} times`)
    })
  }

  /** Checks that a prepare that was never accepted had no effects. */
  checkNeverStored(plan: PreparedPlan): void {
    if (plan.kind === 'recorded') return
    const branches = plan.kind === 'tcc' ? plan.branches : plan.definition.branches
    branches.forEach((_, branch) => {
      if (Object.keys(this.#state(plan, branch)?.effects ?? {}).length > 0)
        this.#audit.report('I21', plan.gid, `branch ${branch} had effects`)
    })
  }

  #state(plan: Pick<PreparedPlan, 'gid'>, branch: number): ServiceState | undefined {
    return branch === CHECK ? undefined : this.#participants?.state(plan, branch)
  }
}

function readDecision(status: Status): Decision | undefined {
  if (status === 'submitted' || status === 'succeeded') return 'forward'
  return status === 'aborting' || status === 'failed' ? 'backward' : undefined
}
