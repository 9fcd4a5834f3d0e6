import {
  decodeTags,
  type ListedTransaction,
  type StoredTransaction,
  toKind,
  toMarks,
  toSentList,
  toStatus,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { COLUMNS } from '../generated/sql.ts'
import type { Cell, Row } from '../sessions/session.ts'

const STORED = COLUMNS.readMany
const LISTED = COLUMNS.list

/**
 * Reads a row of read-many.sql, find-due.sql or find-one.sql, whose columns begin alike. Returns undefined if the row has
 * codes that only a later version knows.
 */
export function toStoredTransaction(row: Row): StoredTransaction | undefined {
  const kind = toKind(row[STORED.kind])
  const status = toStatus(row[STORED.status])
  const sentList = toSentList(row[STORED.sentList])
  if (kind === undefined || status === undefined || sentList === undefined) return undefined
  return {
    gid: toText(row[STORED.gid]) as Gid,
    kind,
    status,
    format: Number(row[STORED.format]),
    digest: toText(row[STORED.digest]),
    definition: toText(row[STORED.definition]),
    progress: toText(row[STORED.progress]),
    version: Number(row[STORED.version]),
    token: toText(row[STORED.token]),
    epoch: Number(row[STORED.epoch]),
    writeId: toText(row[STORED.writeId]),
    owned: row[STORED.owned] === 1,
    sentList,
    claimsWithoutProgress: Number(row[STORED.claims]),
    retrying: row[STORED.retrying] === 1,
    attention: row[STORED.attention] === 1,
    createdAt: Number(row[STORED.createdAt]),
    updatedAt: Number(row[STORED.updatedAt]),
    dueAt: Number(row[STORED.dueAt]),
    ...readWords(row, STORED),
  }
}

/** Reads a row of list.sql. Returns undefined if the row has codes that only a later version knows. */
export function toListedTransaction(row: Row): ListedTransaction | undefined {
  const kind = toKind(row[LISTED.kind])
  const status = toStatus(row[LISTED.status])
  if (kind === undefined || status === undefined) return undefined
  return {
    gid: toText(row[LISTED.gid]) as Gid,
    kind,
    status,
    createdAt: Number(row[LISTED.createdAt]),
    updatedAt: Number(row[LISTED.updatedAt]),
    dueAt: Number(row[LISTED.dueAt]),
    epoch: Number(row[LISTED.epoch]),
    retrying: row[LISTED.retrying] === 1,
    attention: row[LISTED.attention] === 1,
    ...readWords(row, LISTED),
  }
}

type Words = Pick<StoredTransaction, 'name' | 'tags' | 'problem' | 'attempts' | 'marks'>

/** Most rows have none of them. */
function readWords(row: Row, columns: Readonly<Record<keyof Words, number>>): Words {
  const [name, tagsText, problem] = [row[columns.name], row[columns.tags], row[columns.problem]]
  const attempts = Number(row[columns.attempts])
  const marks = toMarks(Number(row[columns.marks]))
  const tags = isNull(tagsText) ? undefined : decodeTags(toText(tagsText))
  return {
    ...(!isNull(name) && { name: toText(name) }),
    ...(tags !== undefined && { tags }),
    ...(!isNull(problem) && { problem: toText(problem) }),
    ...(attempts > 0 && { attempts }),
    ...(marks !== undefined && { marks }),
  }
}

function isNull(cell: Cell | undefined): boolean {
  return cell === null || cell === undefined
}

/** Every text column holds bytes, so the driver returns a buffer. */
export function toText(cell: Cell | undefined): string {
  return Buffer.isBuffer(cell) ? cell.toString('utf8') : String(cell)
}
