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

export type Cell = string | number | Buffer | null
export type Row = readonly Cell[]

/** The places of the columns of a whole row. Each store compares its statements with it. */
export const STORED_COLUMNS = {
  ...{ gid: 0, kind: 1, status: 2, format: 3, digest: 4, definition: 5, progress: 6, version: 7, token: 8 },
  ...{ epoch: 9, writeId: 10, owned: 11, sentList: 12, claims: 13, retrying: 14, attention: 15 },
  ...{ createdAt: 16, updatedAt: 17, dueAt: 18, name: 19, tags: 20, problem: 21, attempts: 22, marks: 23 },
} as const
/** The places of the columns of a row in a list. */
export const LISTED_COLUMNS = {
  ...{
    gid: 0,
    kind: 1,
    status: 2,
    createdAt: 3,
    updatedAt: 4,
    dueAt: 5,
    epoch: 6,
    retrying: 7,
    attention: 8,
  },
  ...{ name: 9, tags: 10, problem: 11, attempts: 12, marks: 13 },
} as const
const STORED = STORED_COLUMNS
const LISTED = LISTED_COLUMNS

/** Reads a whole row, which may have more columns behind these. Returns undefined if the row has codes that only a later version knows. */
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

/** Reads a row of a list. Returns undefined if the row has codes that only a later version knows. */
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

/** A driver returns a buffer for a column that holds bytes. */
export function toText(cell: Cell | undefined): string {
  return Buffer.isBuffer(cell) ? cell.toString('utf8') : String(cell)
}
