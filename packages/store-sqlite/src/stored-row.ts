import {
  columnToText,
  decodeTags,
  type ListedTransaction,
  type StoredTransaction,
  toKind,
  toMarks,
  toSentList,
  toStatus,
} from '@counterstep/core'
import { type Gid, isFinalStatus, type Status } from '@counterstep/protocol'
import type { Row } from './driver.ts'
import { COLUMNS } from './generated/sql.ts'

type Writable<T> = { -readonly [Field in keyof T]: T[Field] }

const STORED = COLUMNS.read satisfies typeof COLUMNS.claim
const LISTED = COLUMNS.list

/**
 * Reads a row of read.sql or claim.sql, which have the same columns. Returns undefined if the row has codes that only
 * a later version knows.
 */
export function toStoredTransaction(row: Row): StoredTransaction | undefined {
  const kind = toKind(row[STORED.kind])
  const status = toStatus(row[STORED.status])
  const sentList = toSentList(row[STORED.sentList])
  if (kind === undefined || status === undefined || sentList === undefined) return undefined
  return {
    gid: row[STORED.gid] as Gid,
    kind,
    status,
    format: row[STORED.format] as number,
    digest: row[STORED.digest] as string,
    definition: columnToText(row[STORED.definition] as string),
    progress: columnToText(row[STORED.progress] as string),
    version: row[STORED.version] as number,
    token: row[STORED.token] as string,
    epoch: row[STORED.epoch] as number,
    writeId: row[STORED.writeId] as string,
    owned: row[STORED.owned] === 1,
    sentList,
    claimsWithoutProgress: row[STORED.claims] as number,
    retrying: row[STORED.retrying] === 1,
    attention: row[STORED.attention] === 1,
    createdAt: row[STORED.createdAt] as number,
    updatedAt: row[STORED.updatedAt] as number,
    dueAt: row[STORED.dueAt] as number,
    ...readFoundBy(row, STORED, status),
  }
}

/** Reads a row of list.sql. Returns undefined if the row has codes that only a later version knows. */
export function toListedTransaction(row: Row): ListedTransaction | undefined {
  const kind = toKind(row[LISTED.kind])
  const status = toStatus(row[LISTED.status])
  if (kind === undefined || status === undefined) return undefined
  return {
    gid: row[LISTED.gid] as Gid,
    kind,
    status,
    createdAt: row[LISTED.createdAt] as number,
    updatedAt: row[LISTED.updatedAt] as number,
    dueAt: row[LISTED.dueAt] as number,
    epoch: row[LISTED.epoch] as number,
    retrying: row[LISTED.retrying] === 1,
    attention: row[LISTED.attention] === 1,
    ...readFoundBy(row, LISTED, status),
  }
}

type FoundBy = Pick<StoredTransaction, 'name' | 'tags' | 'problem' | 'attempts' | 'marks'>

/**
 * Reads the columns that most rows have at their defaults. A final row has no problem: older code that ended it knew nothing
 * of that column.
 */
function readFoundBy(row: Row, place: Readonly<Record<keyof FoundBy, number>>, status: Status): FoundBy {
  const found: Writable<FoundBy> = {}
  const name = row[place.name]
  const encodedTags = row[place.tags]
  const tags = typeof encodedTags === 'string' ? decodeTags(encodedTags) : undefined
  const marks = toMarks(Number(row[place.marks]))
  if (typeof name === 'string') found.name = name
  if (tags !== undefined) found.tags = tags
  if (marks !== undefined) found.marks = marks
  if (isFinalStatus(status)) return found
  const problem = row[place.problem]
  const attempts = Number(row[place.attempts])
  if (typeof problem === 'string') found.problem = problem
  if (attempts > 0) found.attempts = attempts
  return found
}
