/** Checks at the end of a world whether the rows and effects agree with the answers that clients got. */
import type { StoredTransaction } from '@counterstep/core'
import { isFinalStatus } from '@counterstep/protocol'
import type { Participants } from '../branches/participant.ts'
import type { SimStore } from '../world/sim-store.ts'
import type { World } from '../world/world.ts'
import type { Log } from './audit-log.ts'
import type { Auditor } from './auditor.ts'
import type { SagaLog } from './saga-log.ts'
import { isStuck } from './usable-values.ts'

export function auditEnd(
  { counters, poisoned }: World,
  auditor: Auditor,
  store: SimStore,
  participants: Participants,
): void {
  for (const [gid, log] of auditor.logs) {
    const row = store.read(gid)
    if (row === undefined) {
      if (log.isAcknowledged) auditor.report('I1', gid, 'acknowledged, and gone')
      if ('decision' in log) auditor.prepared.checkNeverStored(log.plan)
      else auditWithoutRow(auditor, log, participants)
    } else if (isStuck(row)) counters.stuck++
    else if (!poisoned.has(gid)) auditRow(auditor, log, row, participants)
  }
  auditMoney(auditor, store, participants)
}

/** Checks that money only moves. A missing amount must belong to a saga that was stopped or that has not ended. */
function auditMoney(auditor: Auditor, store: SimStore, participants: Participants): void {
  let inFlight = 0
  for (const [gid, log] of auditor.logs) {
    const status = store.read(gid)?.status
    const isOver = status === 'succeeded' || status === 'failed'
    // The books of a branch that a person has declared done are not kept here.
    if ('decision' in log || (isOver && !hasHands(auditor, log))) continue
    inFlight += sumMoved(log, participants)
  }
  const missing = participants.balance - inFlight
  if (missing !== 0) auditor.report('I15', '-', `all accounts together have ${missing} more than at first`)
}

function hasHands({ operators }: Auditor, { plan }: SagaLog): boolean {
  return plan.amounts.some((_, branch) => operators.isByHand(plan.gid, branch))
}

function sumMoved({ plan }: SagaLog, participants: Participants): number {
  return plan.amounts.reduce((sum, amount, branch) => {
    const { action, compensate } = participants.branch(plan.saga, branch)
    return sum + amount * (action.length - compensate.length)
  }, 0)
}

/** Checks that a submit that was never accepted had no effects. */
function auditWithoutRow(auditor: Auditor, log: SagaLog, participants: Participants): void {
  log.plan.definition.branches.forEach((_, branch) => {
    const { action, compensate } = participants.branch(log.plan.saga, branch)
    if (action.length + compensate.length > 0)
      auditor.report('I21', log.plan.gid, `branch ${branch} had effects`)
  })
}

function auditRow(auditor: Auditor, log: Log, row: StoredTransaction, participants: Participants): void {
  const { gid } = row
  if (!isFinalStatus(row.status)) {
    auditor.report('L1', gid, `still ${row.status} long after the heal`)
    return
  }
  if (log.finalSeen !== undefined && log.finalSeen !== row.status)
    auditor.report('I18', gid, `a client saw ${log.finalSeen}, the end is ${row.status}`)
  if (row.status === 'stopped' && !log.stopAsked) auditor.report('I3', gid, 'stopped without a request')
  if ('decision' in log) auditor.prepared.checkEnd(row, log)
  else {
    auditSaga(auditor, log, row, participants)
    auditor.stages.checkEnd(row)
  }
}

function auditSaga(auditor: Auditor, log: SagaLog, row: StoredTransaction, participants: Participants): void {
  const { gid } = row
  log.plan.definition.branches.forEach(({ compensation, wait }, branch) => {
    if (wait !== undefined || auditor.operators.isByHand(gid, branch)) return
    const { action, compensate } = participants.branch(log.plan.saga, branch)
    const effects = `branch ${branch}: ${action.length} action and ${compensate.length} compensation effects`
    if (row.status === 'succeeded' && (action.length !== 1 || compensate.length !== 0))
      auditor.report('I5', gid, `succeeded, but ${effects}`)
    const balanced = compensation === undefined || action.length === compensate.length
    if (row.status === 'failed' && !(balanced && action.length <= 1 && compensate.length <= 1))
      auditor.report('I6', gid, `failed, but ${effects}`)
  })
  if (row.status === 'failed' && (log.sent & ~(log.undo ?? 0)) !== 0)
    auditor.report('I10', gid, 'an action was sent that is not in the list to undo')
}
