import type { NewTransaction, SentList, StoredTransaction, TransactionUpdate } from '@counterstep/core'
import { MARKS, NEVER_AT } from '@counterstep/core'
import { isFinalStatus } from '@counterstep/protocol'

/** Live rows can be claimed at `dueAt`. The others wait for their purge. */
export function isLive(row: StoredTransaction): boolean {
  return !isFinalStatus(row.status)
}

/** A lease ends exactly at `dueAt`: at that time another owner may claim the row. */
export function isHeld(row: StoredTransaction, now: number): boolean {
  return row.owned && row.dueAt > now
}

export function makeRow(transaction: NewTransaction, now: number): StoredTransaction {
  const { hold, tags, ...rest } = transaction
  return {
    ...rest,
    ...(tags !== undefined && Object.keys(tags).length > 0 && { tags }),
    version: 1,
    epoch: 1,
    owned: hold.type === 'owned',
    claimsWithoutProgress: 0,
    retrying: false,
    attention: false,
    createdAt: now,
    updatedAt: now,
    dueAt: now + (hold.type === 'owned' ? hold.leaseMs : hold.dueInMs),
  }
}

export function applyUpdate(
  row: StoredTransaction,
  update: TransactionUpdate,
  version: number,
  now: number,
): StoredTransaction {
  const { problem: _problem, attempts: _attempts, marks: _marks, ...kept } = row
  const { problem, attempts = 0, marks = [] } = update
  return {
    ...kept,
    ...(problem !== undefined && { problem }),
    ...(attempts > 0 && { attempts }),
    ...(marks.length > 0 && { marks: MARKS.filter((mark) => marks.includes(mark)) }),
    version,
    writeId: update.writeId,
    status: update.status,
    format: update.format,
    progress: update.progress,
    retrying: update.retrying,
    attention: update.attention,
    sentList: update.sentList ?? row.sentList,
    claimsWithoutProgress: 0,
    updatedAt: now,
    ...applyHold(row, update, now),
  }
}

function applyHold(
  row: StoredTransaction,
  { hold }: TransactionUpdate,
  now: number,
): Pick<StoredTransaction, 'owned' | 'dueAt'> {
  switch (hold.type) {
    case 'keep':
      return { owned: row.owned, dueAt: row.dueAt }
    case 'release':
      return { owned: false, dueAt: hold.dueAt }
    case 'finish':
      return { owned: false, dueAt: hold.retentionMs === 'never' ? NEVER_AT : now + hold.retentionMs }
    case 'command':
      return row.owned ? { owned: true, dueAt: row.dueAt } : { owned: false, dueAt: hold.dueAt ?? now }
  }
}

/** Keeps `updatedAt`, because a claim changes nothing in the transaction itself. */
export function applyClaim(
  row: StoredTransaction,
  token: string,
  version: number,
  dueAt: number,
): StoredTransaction {
  return {
    ...row,
    token,
    owned: true,
    dueAt,
    version,
    epoch: row.epoch + 1,
    claimsWithoutProgress: row.claimsWithoutProgress + 1,
    sentList: sentListAfterClaim(row.sentList),
  }
}

/** The next owner may trust only a list that was complete when the row was given back. */
export function sentListAfterClaim(sentList: SentList): SentList {
  return sentList === 'released' ? 'held' : 'unknown'
}
