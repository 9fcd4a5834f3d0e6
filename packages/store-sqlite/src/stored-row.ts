import type { ListedTransaction, StoredTransaction } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { Row } from './driver.ts'
import { kindOf, sentListOf, statusOf } from './row-codes.ts'

/** In the order of the columns of read.sql and claim.sql. */
export function storedTransaction(row: Row): StoredTransaction {
  return {
    gid: row[0] as Gid,
    kind: kindOf(row[1]),
    status: statusOf(row[2]),
    format: row[3] as number,
    digest: row[4] as string,
    definition: row[5] as string,
    progress: row[6] as string,
    version: row[7] as number,
    token: row[8] as string,
    epoch: row[9] as number,
    writeId: row[10] as string,
    owned: row[11] === 1,
    sentList: sentListOf(row[12]),
    claimsWithoutProgress: row[13] as number,
    retrying: row[14] === 1,
    attention: row[15] === 1,
    createdAt: row[16] as number,
    updatedAt: row[17] as number,
    dueAt: row[18] as number,
  }
}

/** In the order of the columns of list.sql. */
export function listedTransaction(row: Row): ListedTransaction {
  return {
    gid: row[0] as Gid,
    kind: kindOf(row[1]),
    status: statusOf(row[2]),
    createdAt: row[3] as number,
    updatedAt: row[4] as number,
    dueAt: row[5] as number,
    epoch: row[6] as number,
    retrying: row[7] === 1,
    attention: row[8] === 1,
  }
}
