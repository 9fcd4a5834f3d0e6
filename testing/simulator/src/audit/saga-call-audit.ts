/**
 * Checks the calls of a saga: their order forward and backward, the abort
 * decision, and in strict mode the durable results.
 */
import { type CallKey, findOp, type Run, type StoredTransaction, type Transaction } from '@counterstep/core'
import type { Participants } from '../branches/participant.ts'
import { readRecord } from '../world/read-record.ts'
import type { AuditLog } from './audit-log.ts'
import { listHands } from './operator-audit.ts'
import type { SagaLog } from './saga-log.ts'

export class SagaCallAudit {
  readonly #audit: AuditLog
  #participants: Participants | undefined

  constructor(audit: AuditLog) {
    this.#audit = audit
  }

  watch(participants: Participants): void {
    this.#participants = participants
  }

  /** Checks a call. `runner` is compared by identity. */
  checkCall(run: Run, row: StoredTransaction, call: CallKey, log: SagaLog, runner: object): void {
    if (call.op === 'action') this.#checkAction(run, call.branch, log, runner)
    else this.#checkCompensation(run.transaction, call.branch, log)
    if (log.plan.definition.checkpointMs === 0) this.#checkStrict(run, row, call, log)
  }

  #checkAction(run: Run, branch: number, log: SagaLog, runner: object): void {
    const { gid, status } = run.transaction
    const byHand = listHands(run.transaction)
    log.sent |= 1 << branch
    if (status !== 'submitted')
      this.#audit.report('I13', gid, `action ${branch} started by a runner that is ${status}`)
    const owner = log.owners.get(run.token)
    if (owner !== undefined && owner !== runner)
      this.#audit.report('I14', gid, `two runners start actions under token ${run.token}`)
    log.owners.set(run.token, runner)
    for (const before of log.plan.definition.branches[branch]?.after ?? []) {
      // When a wait may have ended, the audit of stages knows.
      if (log.plan.definition.branches[before]?.wait !== undefined) continue
      if (byHand.includes(before)) continue
      if (this.#participants?.branch(log.plan.saga, before).action.length === 0)
        this.#audit.report('I11', gid, `action ${branch} sent before ${before} has succeeded`)
    }
  }

  #checkCompensation(transaction: Transaction, branch: number, log: SagaLog): void {
    const { gid } = transaction
    if (log.undo === undefined) {
      this.#audit.report('I13', gid, `compensation ${branch} sent before the abort decision was durable`)
    }
    if (!('abort' in transaction) || transaction.abort === undefined) return
    const byHand = listHands(transaction)
    for (const later of log.plan.successors[branch] ?? []) {
      if (!transaction.abort.branches.includes(later) || byHand.includes(later)) continue
      if (log.plan.definition.branches[later]?.compensation === undefined) continue
      if (this.#participants?.branch(log.plan.saga, later).isCompensated !== true)
        this.#audit.report('I12', gid, `compensation ${branch} sent before that of ${later} has succeeded`)
    }
  }

  /** Checks in strict mode that the results before this call are durable. */
  #checkStrict(run: Run, row: StoredTransaction, call: CallKey, log: SagaLog): void {
    if (row.token !== run.token || log.isFinal) return
    const stored = readRecord(row)
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
      if (findOp(stored, { branch, op: call.op })?.state !== 'succeeded')
        this.#audit.report(
          'strict',
          row.gid,
          `${call.op} ${call.branch} sent before ${branch}'s result was durable`,
        )
    }
  }
}
