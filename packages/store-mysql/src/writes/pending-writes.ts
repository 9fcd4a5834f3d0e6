import {
  assert,
  type CreateResult,
  encodeTags,
  KIND_CODES,
  type NewTransaction,
  PARKED_AT,
  SENT_LIST_CODES,
  STATUS_CODES,
  type Tags,
  type TransactionUpdate,
  toDueColumn,
  toMarkBits,
  toTagWords,
  type UpdateHold,
  type UpdateResult,
} from '@counterstep/core'
import type { QueuedWrite } from '@counterstep/store-sql'
import { STATEMENTS } from '../generated/sql.ts'
import { literal } from '../sessions/literal.ts'
import { fill, parseRowsStatement } from '../sessions/statement.ts'
import { withNowMark } from '../transactions/transaction-protocol.ts'

const NAMES_MARK = '/*names*/'
export const CREATE = parseRowsStatement(withNowMark(STATEMENTS.create.replace(NAMES_MARK, '')))
export const CREATE_NAMED = parseRowsStatement(
  withNowMark(STATEMENTS.create.replace(NAMES_MARK, ', name, tags')),
)
export const ENTER_TAGS = parseRowsStatement(withNowMark(STATEMENTS.insertTags))
/** The length of the column. */
const TAG_BYTES_MAX = 289
/** The length of an update's statement without its values and without the few words of its hold. */
const UPDATE_LENGTH = STATEMENTS.update.length

type Settle<Result> = (result: Result) => void

interface Pending<Result> extends QueuedWrite {
  readonly token: string
  readonly writeId: string
  /** The length of its part of the statement. That text is written once, also for a flush that is repeated. */
  readonly length: number
  readonly resolve: Settle<Result>
}

export interface PendingCreate extends Pending<CreateResult> {
  readonly type: 'create'
  readonly sql: string
  /** The name and the tags as SQL, for a row that has one of them. */
  readonly names: string | undefined
  /** The row's entries in the table of the tags, as SQL. */
  readonly entries: readonly string[]
}

export interface PendingUpdate extends Pending<UpdateResult> {
  readonly type: 'update'
  readonly literals: UpdateLiterals
  readonly version: number
}

export type PendingWrite = PendingCreate | PendingUpdate

/** An update's values as SQL. They are written once, whichever statement they will be in. */
interface UpdateLiterals {
  readonly hold: UpdateHold['type']
  /** The values that all rows of one statement share beside the hold: status, format, retrying, attention and sent list. */
  readonly shared: readonly string[]
  /** The row waits for something, or has a mark. Rows that do share no statement with those that do not. */
  readonly isTroubled: boolean
  readonly own: RowLiterals
}

export interface RowLiterals {
  readonly gid: string
  readonly token: string
  readonly version: string
  /** A timestamp, or the retention if the hold is a finish. */
  readonly due: string
  readonly writeId: string
  readonly progress: string
  readonly problem: string
  readonly attempts: string
  readonly marks: string
}

/** The columns of a row that an update writes for each row by itself. */
export type OwnColumn = Exclude<keyof RowLiterals, 'gid' | 'token' | 'version'>

/** Throws an `AssertionError` for a value that no statement can carry, so that a bad row is found before it has neighbours. */
export function toPendingCreate(
  transaction: NewTransaction,
  resolve: Settle<CreateResult>,
  reject: (error: Error) => void,
): PendingCreate {
  const { gid, token, writeId, hold } = transaction
  const dueInMs = hold.type === 'owned' ? hold.leaseMs : hold.dueInMs
  // The server adds it to its clock, and the sum must be a timestamp too.
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
  const names = writeNames(transaction)
  const entries = transaction.tags === undefined ? [] : writeEntries(gid, transaction.tags)
  const length = sql.length + (names?.length ?? 0) + sumLengths(entries)
  return { type: 'create', gid, token, writeId, sql, names, entries, length, resolve, reject }
}

/** A tag that is too long is found here, because the statement would cut it. */
function writeEntries(gid: string, tags: Tags): readonly string[] {
  return toTagWords(tags).map((tag) => {
    assert(Buffer.byteLength(tag) <= TAG_BYTES_MAX, 'a tag that is too long for a row')
    return fill(ENTER_TAGS.row, [tag, gid])
  })
}

function sumLengths(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0)
}

function writeNames({ name, tags }: NewTransaction): string | undefined {
  if (name === undefined && tags === undefined) return undefined
  return `${literal(name ?? null)}, ${literal(encodeTags(tags))}`
}

/** Throws as `toPendingCreate` does. */
export function toPendingUpdate(
  update: TransactionUpdate,
  resolve: Settle<UpdateResult>,
  reject: (error: Error) => void,
): PendingUpdate {
  const { gid, token, version, writeId } = update
  const literals = writeLiterals(update)
  const length = UPDATE_LENGTH + measureRow(literals, countUnits)
  return { type: 'update', gid, token, version, writeId, literals, length, resolve, reject }
}

/** Sums up what stands in a statement for this row. The gid stands in each CASE, and twice in the key. */
export function measureRow({ own, isTroubled }: UpdateLiterals, measure: (text: string) => number): number {
  const { gid, token, version, due, writeId, progress, problem, attempts, marks } = own
  const gidLength = measure(gid)
  const length =
    5 * gidLength + measure(token) + measure(version) + measure(due) + measure(writeId) + measure(progress)
  return isTroubled ? length + 3 * gidLength + measure(problem) + measure(attempts) + measure(marks) : length
}

function countUnits(text: string): number {
  return text.length
}

function writeLiterals(update: TransactionUpdate): UpdateLiterals {
  const { gid, token, version, writeId, progress, hold } = update
  const { status, format, retrying, attention, sentList, problem, attempts = 0, marks } = update
  const shared = [
    STATUS_CODES[status],
    format,
    retrying ? 1 : 0,
    attention ? 1 : 0,
    sentList === undefined ? null : SENT_LIST_CODES[sentList],
  ]
  const isTroubled = problem !== undefined || attempts > 0 || (marks !== undefined && marks.length > 0)
  return {
    hold: hold.type,
    shared: shared.map(literal),
    isTroubled,
    own: {
      gid: literal(gid),
      token: literal(token),
      version: literal(version),
      due: literal(toDueColumn(hold)),
      writeId: literal(writeId),
      progress: literal(progress),
      problem: problem === undefined ? 'NULL' : literal(problem),
      attempts: attempts === 0 ? '0' : literal(attempts),
      marks: isTroubled ? literal(toMarkBits(marks)) : '0',
    },
  }
}
