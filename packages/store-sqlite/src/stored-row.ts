import {
  type ListedTransaction,
  type StoredTransaction,
  toKind,
  toSentList,
  toStatus,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { Row } from './driver.ts'
import { textOfColumn } from './nul-text.ts'

/** In the order of the columns of read.sql and claim.sql. Undefined: a later version's row. */
export function storedTransaction(row: Row): StoredTransaction | undefined {
  const kind = toKind(row[1])
  const status = toStatus(row[2])
  const sentList = toSentList(row[12])
  if (kind === undefined || status === undefined || sentList === undefined) return undefined
  return {
    gid: row[0] as Gid,
    kind,
    status,
    format: row[3] as number,
    digest: row[4] as string,
    definition: textOfColumn(row[5] as string),
    progress: textOfColumn(row[6] as string),
    version: row[7] as number,
    token: row[8] as string,
    epoch: row[9] as number,
    writeId: row[10] as string,
    owned: row[11] === 1,
    sentList,
    claimsWithoutProgress: row[13] as number,
    retrying: row[14] === 1,
    attention: row[15] === 1,
    createdAt: row[16] as number,
    updatedAt: row[17] as number,
    dueAt: row[18] as number,
  }
}

/** In the order of the columns of list.sql. Undefined: a later version's row. */
export function listedTransaction(row: Row): ListedTransaction | undefined {
  const kind = toKind(row[1])
  const status = toStatus(row[2])
  if (kind === undefined || status === undefined) return undefined
  return {
    gid: row[0] as Gid,
    kind,
    status,
    createdAt: row[3] as number,
    updatedAt: row[4] as number,
    dueAt: row[5] as number,
    epoch: row[6] as number,
    retrying: row[7] === 1,
    attention: row[8] === 1,
  }
}
