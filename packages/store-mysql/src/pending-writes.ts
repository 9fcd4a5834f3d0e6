import {
  assert,
  type CreateResult,
  type NewTransaction,
  PARKED_AT,
  type TransactionUpdate,
  type UpdateResult,
} from '@counterstep/core'
import { STATEMENTS } from './generated/sql.ts'
import { PACKETS } from './packets.ts'
import { KIND_CODES, SENT_LIST_CODES, STATUS_CODES } from './row-codes.ts'
import { type Chunks, fillFrom, rowsStatementOf } from './statement.ts'
import { type UpdateParts, updateParts, updateTexts } from './update-statement.ts'

export const CREATE = rowsStatementOf(STATEMENTS.create)

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
  readonly parts: UpdateParts
  readonly version: number
}

export type PendingWrite = PendingCreate | PendingUpdate

/** Writes rows down for a flush, with `nowText` for the instant, which the flush alone will know. */
export class PendingWrites {
  readonly #create: Chunks
  readonly #aroundUpdate: readonly Chunks[]

  constructor(nowText: string) {
    this.#create = rowsStatementOf(STATEMENTS.create.replaceAll(PACKETS.nowText, nowText)).row
    this.#aroundUpdate = updateTexts(nowText)
  }

  /** Throws an `AssertionError` for a value that no statement can carry: a poison row is found before it has neighbours. */
  create(
    transaction: NewTransaction,
    resolve: Settle<CreateResult>,
    reject: (error: Error) => void,
  ): PendingCreate {
    const { gid, token, writeId, hold } = transaction
    const dueInMs = hold.type === 'owned' ? hold.leaseMs : hold.dueInMs
    // The server adds it to its now: the sum must be an instant too.
    assert(dueInMs <= PARKED_AT, 'a row that would be due after all instants')
    const sql = fillFrom(this.#create, 0, [
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

  update(
    update: TransactionUpdate,
    resolve: Settle<UpdateResult>,
    reject: (error: Error) => void,
  ): PendingUpdate {
    const { gid, token, version, writeId } = update
    const parts = updateParts(update, this.#aroundUpdate)
    const length = lengthOf(parts.texts) + lengthOf(parts.row)
    return { type: 'update', gid, token, version, writeId, parts, length, resolve, reject }
  }
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0)
}
