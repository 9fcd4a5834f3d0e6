import {
  type CreateResult,
  encodeTags,
  KIND_CODES,
  type NewTransaction,
  SENT_LIST_CODES,
  STATUS_CODES,
  type TransactionUpdate,
  toDueColumn,
  toMarkBits,
  type UpdateResult,
} from '@counterstep/core'
import type { QueuedWrite } from '@counterstep/store-sql'

type Cell = string | number | null
type Settle<Result> = (result: Result) => void

interface Pending<Result> extends QueuedWrite {
  readonly token: string
  readonly writeId: string
  /** The row's values in the order of the parameters of its part of the statement. */
  readonly cells: readonly Cell[]
  readonly resolve: Settle<Result>
}

export interface PendingCreate extends Pending<CreateResult> {
  readonly type: 'create'
  readonly hasTags: boolean
}

export interface PendingUpdate extends Pending<UpdateResult> {
  readonly type: 'update'
  readonly version: number
  /** Other nodes are told of it. */
  readonly isCommand: boolean
}

export type PendingWrite = PendingCreate | PendingUpdate

/** The bytes of a row's numbers, roughly. */
const NUMBERS_LENGTH = 100

/** The cells are those of created.sql. */
export function toPendingCreate(
  transaction: NewTransaction,
  resolve: Settle<CreateResult>,
  reject: (error: Error) => void,
): PendingCreate {
  const { gid, token, writeId, hold, name = null } = transaction
  const tags = encodeTags(transaction.tags)
  const cells = [
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
    name,
    tags,
    hold.type === 'owned' ? hold.leaseMs : hold.dueInMs,
  ]
  const common = { gid, token, writeId, cells, length: measure(cells), resolve, reject }
  return { type: 'create', hasTags: tags !== null, ...common }
}

/** The cells are those of updated.sql. */
export function toPendingUpdate(
  update: TransactionUpdate,
  resolve: Settle<UpdateResult>,
  reject: (error: Error) => void,
): PendingUpdate {
  const { gid, token, version, writeId, sentList, problem = null, attempts = 0 } = update
  const cells = [
    gid,
    token,
    version,
    writeId,
    STATUS_CODES[update.status],
    update.format,
    update.progress,
    update.retrying ? 1 : 0,
    update.attention ? 1 : 0,
    sentList === undefined ? null : SENT_LIST_CODES[sentList],
    problem,
    attempts,
    toMarkBits(update.marks),
    update.hold.type,
    toDueColumn(update.hold),
  ]
  const isCommand = update.hold.type === 'command'
  const length = measure(cells)
  return { type: 'update', gid, token, version, writeId, isCommand, cells, length, resolve, reject }
}

function measure(cells: readonly Cell[]): number {
  return cells.reduce<number>(
    (sum, cell) => sum + (typeof cell === 'string' ? cell.length : 0),
    NUMBERS_LENGTH,
  )
}
