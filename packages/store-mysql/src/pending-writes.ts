import type {
  CreateResult,
  NewTransaction,
  TransactionUpdate,
  UpdateHold,
  UpdateResult,
} from '@counterstep/core'
import { STATEMENTS } from './generated/sql.ts'
import { KIND_CODES, SENT_LIST_CODES, STATUS_CODES } from './row-codes.ts'
import { fillFrom, rowsStatementOf } from './statement.ts'

export const CREATE = rowsStatementOf(STATEMENTS.create)
export const UPDATE = rowsStatementOf(STATEMENTS.update)
/** The values of create.sql's row that are known before the flush. */
export const CREATE_VALUES_KNOWN = 11

// As update.sql has them.
const HOLD_CODES: Readonly<Record<UpdateHold['type'], number>> = {
  keep: 0,
  release: 1,
  finish: 2,
  command: 3,
}

export type Settle<Result> = (result: Result) => void

interface Pending<Result> {
  readonly gid: string
  readonly token: string
  readonly writeId: string
  /** The row's part of the statement: written once, also for a flush that is repeated. */
  readonly sql: string
  readonly resolve: Settle<Result>
  readonly reject: (error: Error) => void
}

export interface PendingCreate extends Pending<CreateResult> {
  readonly type: 'create'
  readonly dueInMs: number
}

export interface PendingUpdate extends Pending<UpdateResult> {
  readonly type: 'update'
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
  const sql = fillFrom(CREATE.row, 0, [
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
  ])
  const dueInMs = hold.type === 'owned' ? hold.leaseMs : hold.dueInMs
  return { type: 'create', gid, token, writeId, sql, dueInMs, resolve, reject }
}

export function pendingUpdate(
  update: TransactionUpdate,
  resolve: Settle<UpdateResult>,
  reject: (error: Error) => void,
): PendingUpdate {
  const { gid, token, version, writeId, hold } = update
  const sql = fillFrom(UPDATE.row, 0, [
    gid,
    token,
    version,
    writeId,
    STATUS_CODES[update.status],
    update.format,
    update.progress,
    update.retrying ? 1 : 0,
    update.attention ? 1 : 0,
    update.sentList === undefined ? null : SENT_LIST_CODES[update.sentList],
    HOLD_CODES[hold.type],
    dueOf(hold),
  ])
  return { type: 'update', gid, token, version, writeId, sql, resolve, reject }
}

function dueOf(hold: UpdateHold): number | null {
  switch (hold.type) {
    case 'keep':
      return null
    case 'release':
      return hold.dueAt
    case 'finish':
      return hold.retentionMs === 'never' ? null : hold.retentionMs
    case 'command':
      return hold.dueAt ?? null
  }
}
