import {
  assert,
  type CreateResult,
  KIND_CODES,
  type NewTransaction,
  PARKED_AT,
  SENT_LIST_CODES,
  STATUS_CODES,
  type TransactionUpdate,
  type UpdateResult,
} from '@counterstep/core'
import { STATEMENTS } from '../generated/sql.ts'
import { fill, rowsStatementOf } from '../sessions/statement.ts'
import { withNowMark } from '../transactions/now-mark.ts'
import { type UpdateLiterals, updateLiterals } from './update-literals.ts'

export const CREATE = rowsStatementOf(withNowMark(STATEMENTS.create))
/** Of an update's statement, whatever its row is and but for the few words of its hold. */
const UPDATE_LENGTH = STATEMENTS.update.length

export type Settle<Result> = (result: Result) => void

interface Pending<Result> {
  readonly gid: string
  readonly token: string
  readonly writeId: string
  /** Of its part of the statement, which is written once, also for a flush that is repeated. */
  readonly length: number
  readonly resolve: Settle<Result>
  readonly reject: (error: Error) => void
}

export interface PendingCreate extends Pending<CreateResult> {
  readonly type: 'create'
  readonly sql: string
}

export interface PendingUpdate extends Pending<UpdateResult> {
  readonly type: 'update'
  readonly literals: UpdateLiterals
  readonly version: number
}

export type PendingWrite = PendingCreate | PendingUpdate

/** Throws an `AssertionError` for a value that no statement can carry: a poison row is found before it has neighbours. */
export function pendingCreate(
  transaction: NewTransaction,
  resolve: Settle<CreateResult>,
  reject: (error: Error) => void,
): PendingCreate {
  const { gid, token, writeId, hold } = transaction
  const dueInMs = hold.type === 'owned' ? hold.leaseMs : hold.dueInMs
  // The server adds it to its now: the sum must be an instant too.
  assert(dueInMs <= PARKED_AT, 'a row that would be due after all instants')
  const sql = fill(CREATE.row, [
    gid,
    KIND_CODES[transaction.kind],
    STATUS_CODES[transaction.status],
    transaction.format,
    transaction.digest,
    transaction.definition,
    transaction.progress,
    token,
    writeId,
    hold.type === 'owned' ? 1 : 0,
    SENT_LIST_CODES[transaction.sentList],
    dueInMs,
  ])
  return { type: 'create', gid, token, writeId, sql, length: sql.length, resolve, reject }
}

/** Throws as `pendingCreate` does. */
export function pendingUpdate(
  update: TransactionUpdate,
  resolve: Settle<UpdateResult>,
  reject: (error: Error) => void,
): PendingUpdate {
  const { gid, token, version, writeId } = update
  const literals = updateLiterals(update)
  const { own } = literals
  // The gid stands in three CASEs, and twice in the key.
  const ofKey = 5 * own.gid.length + own.token.length + own.version.length
  const length = UPDATE_LENGTH + ofKey + own.due.length + own.writeId.length + own.progress.length
  return {
    type: 'update',
    gid,
    token,
    version,
    writeId,
    literals,
    length,
    resolve,
    reject,
  }
}
