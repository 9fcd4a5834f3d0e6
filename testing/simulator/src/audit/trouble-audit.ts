/**
 * Checks what a row says of its trouble: the problem, its attempts and the marks follow from its record (I36), and the runs
 * of an op have no attempt twice.
 */
import {
  CHECK,
  describeTrouble,
  findOp,
  type OpProgress,
  type StoredTransaction,
  type Transaction,
} from '@counterstep/core'
import { readRecord } from '../world/read-record.ts'
import type { AuditLog } from './audit-log.ts'

export function checkTrouble(audit: AuditLog, row: StoredTransaction): void {
  const transaction = readRecord(row)
  const said = describeRow(row)
  const expected = describeRow(describeTrouble(transaction))
  if (said !== expected) audit.report('I36', row.gid, `the row says ${said}, and its record ${expected}`)
  for (const progress of listOps(transaction)) {
    const fault = findRunFault(progress)
    if (fault !== undefined) audit.report('I36', row.gid, fault)
  }
}

function describeRow({
  problem = '',
  attempts = 0,
  marks = [],
}: Pick<StoredTransaction, 'problem' | 'attempts' | 'marks'>): string {
  return `"${problem}" after ${attempts}, ${marks.join(' ')}`
}

function listOps(transaction: Transaction): readonly OpProgress[] {
  const check = findOp(transaction, { branch: CHECK, op: 'msg' })
  const ops = transaction.branches.flatMap((progress) => Object.values(progress) as OpProgress[])
  return check === undefined ? ops : [check, ...ops]
}

/** An attempt whose answer was lost with its owner is in no run, so the runs may have gaps. */
function findRunFault({ attempts, result, runs = [] }: OpProgress): string | undefined {
  let next = 1
  for (const { from, count } of runs) {
    if (from < next || count < 1) return `a run of ${count} attempts begins at ${from}`
    next = from + count
  }
  if (next > attempts + 1) return `the runs have ${next - 1} attempts of ${attempts}`
  const hasFailed = result !== undefined && result !== 'success'
  return hasFailed && runs.length === 0 ? `an op has answered ${result} and has no run` : undefined
}
