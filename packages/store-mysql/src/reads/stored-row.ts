import {
  type ListedTransaction,
  type StoredTransaction,
  toKind,
  toSentList,
  toStatus,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { Cell, Row } from '../sessions/session.ts'

/** In the order of the columns of read-many.sql, find-due.sql and find-one.sql. Undefined: a later version's row. */
export function storedTransaction(row: Row): StoredTransaction | undefined {
  const kind = toKind(row[1])
  const status = toStatus(row[2])
  const sentList = toSentList(row[12])
  if (kind === undefined || status === undefined || sentList === undefined) return undefined
  return {
    gid: textOf(row[0]) as Gid,
    kind,
    status,
    format: Number(row[3]),
    digest: textOf(row[4]),
    definition: textOf(row[5]),
    progress: textOf(row[6]),
    version: Number(row[7]),
    token: textOf(row[8]),
    epoch: Number(row[9]),
    writeId: textOf(row[10]),
    owned: row[11] === 1,
    sentList,
    claimsWithoutProgress: Number(row[13]),
    retrying: row[14] === 1,
    attention: row[15] === 1,
    createdAt: Number(row[16]),
    updatedAt: Number(row[17]),
    dueAt: Number(row[18]),
  }
}

/** In the order of the columns of list.sql. Undefined: a later version's row. */
export function listedTransaction(row: Row): ListedTransaction | undefined {
  const kind = toKind(row[1])
  const status = toStatus(row[2])
  if (kind === undefined || status === undefined) return undefined
  return {
    gid: textOf(row[0]) as Gid,
    kind,
    status,
    createdAt: Number(row[3]),
    updatedAt: Number(row[4]),
    dueAt: Number(row[5]),
    epoch: Number(row[6]),
    retrying: row[7] === 1,
    attention: row[8] === 1,
  }
}

/** Every text column is bytes, so the driver gives a buffer. */
export function textOf(cell: Cell | undefined): string {
  return Buffer.isBuffer(cell) ? cell.toString('utf8') : String(cell)
}
